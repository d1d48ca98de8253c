"""A small agent for tests of the runner, with the libraries of the product alone: as a program, a function, a server.

What it does is in the JSON file that `AGENT_SCRIPT` names: case -> attempts -> a step: `{"call": NAME, "args": {...}}`,
`{"say": TEXT}`, or a way to fail: `{"exit": CODE}`, `{"signal": N}`, `{"raise": TYPE}`, `{"hang": SECONDS}`. Each
invocation appends a line to the file `AGENT_LOG`.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_toolselect import instrument

TOOLS = [
    {"name": name, "description": f"The tool {name}.", "parameters": {"type": "object", "properties": {}}}
    for name in ("find_orders", "refund_order", "get_invoice")
]


def step_of(case_id: str, attempt: int) -> dict[str, Any]:
    script = json.loads(Path(os.environ["AGENT_SCRIPT"]).read_text("utf-8"))
    steps = script.get(case_id) or script["*"]
    found: dict[str, Any] = steps[min(attempt, len(steps)) - 1]
    return found


def note(**facts: object) -> None:
    with Path(os.environ["AGENT_LOG"]).open("a") as file:
        file.write(json.dumps(facts) + "\n")


def play(prompt: str, step: dict[str, Any]) -> str:
    """One run with spans; the answer."""
    with instrument.agent("shop", prompt, tools=TOOLS, model="scripted-1", provider="test", capture=True) as run:
        with run.model([{"role": "user", "parts": [{"type": "text", "content": prompt}]}], model="scripted-1") as turn:
            if "call" in step:
                turn.tool_call(step["call"], step.get("args", {}), "call_1")
            else:
                turn.text(step.get("say", "Done."))
        if "call" in step:
            with instrument.execute_tool(step["call"], step.get("args", {}), call_id="call_1", capture=True) as tool:
                tool.result({"ok": True})
            with run.model([], model="scripted-1") as turn:
                turn.text("Done.")
        answer = step.get("say", "Done.")
        run.answer(answer)
    return str(answer)


def fail(step: dict[str, Any]) -> None:
    if "raise" in step:
        raise getattr(builtins, step["raise"])(step.get("message", "scripted"))
    if "hang" in step:
        time.sleep(step["hang"])
    if "signal" in step:
        os.kill(os.getpid(), step["signal"])
    if "exit" in step:
        print(step.get("message", ""), file=sys.stderr)
        sys.exit(step["exit"])


def answer(prompt: str, case_id: str, attempt: int) -> str:
    """For `--callable`; traced by the provider that the worker sets."""
    note(case=case_id, attempt=attempt, prompt=prompt, pid=os.getpid())
    step = step_of(case_id, attempt)
    fail(step)
    return play(prompt, step)


async def answer_later(prompt: str, case_id: str, attempt: int) -> str:
    return answer(prompt, case_id, attempt)


def stated(prompt: str, case_id: str, attempt: int) -> dict[str, Any]:
    """No spans: the calls are in the answer."""
    note(case=case_id, attempt=attempt, prompt=prompt, pid=os.getpid())
    step = step_of(case_id, attempt)
    calls = [{"name": step["call"], "args": step.get("args", {}), "result": {"ok": True}}] if "call" in step else []
    return {"calls": calls, "text": step.get("say", "Done.")}


def mute(prompt: str) -> str:
    """Neither spans nor calls."""
    return "Done."


def main() -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    case_id, attempt = os.environ["TOOLSELECT_CASE_ID"], int(os.environ["TOOLSELECT_ATTEMPT"])
    note(case=case_id, attempt=attempt, prompt=sys.argv[1], stdin=sys.stdin.read(), pid=os.getpid())
    step = step_of(case_id, attempt)
    if "leak" in step:
        print(os.environ["SHOP_API_KEY"], file=sys.stderr)
    if step.get("early"):
        fail(step)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    print(play(sys.argv[1], step))
    provider.shutdown()
    fail(step)


if __name__ == "__main__":
    main()
