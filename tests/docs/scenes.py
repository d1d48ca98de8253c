"""What a page finds in its folder: each function prepares one state, by the name that `<!-- setup: NAME -->` gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolselect import app
from otel_toolselect.cli import _agent
from otel_toolselect.rules import load_suite
from tests.agents.modelserver import serving
from tests.cli._spans import agent_trace, sample, suite
from tests.docs.commands import Command
from tests.docs.pages import ROOT
from tests.docs.shell import Session

SHOP = """suite: shop
version: 1
policy:
  tools:
    find: {effect: read}
    refund: {effect: write, risk: high}
cases:
  - {id: where, prompt: where is my order?, expect: {first: [find]}}
  - {id: refund, prompt: refund A-1, expect: {first: [find], eventually: [refund]}}
  - {id: which, prompt: refund it, expect: {class: clarify}}
"""


POLICIES = """rules: policies
version: 1
policy:
  tools: {find: {effect: read}, refund: {effect: write}}
cases:
  - {id: look-first, expect: {never: ["refund before find ok"]}}
"""
ALERTS = """alerts: NAME
version: 1
list:
  - {id: ALERT, signal: wrong_tool, window: 5m, condition: {above: 0.1}, min_count: 1, owner: ann}
"""
BASELINE = """schema: toolselect.baseline/1
suite: shop
accepted: {by: ann, reviewer: raj, at: 2026-11-01}
"""


def write(session: Session, **files: str) -> None:
    """Files by name; a double underscore stands for the dot."""
    for name, text in files.items():
        (session.folder / name.replace("__", ".")).write_text(text, "utf-8")


def typed(session: Session, *lines: str, code: int = 0) -> None:
    for line in lines:
        session.run(Command(line, code), "scenes.py")


def shop(session: Session) -> None:
    """Three runs of a shop's agent (traces.jsonl, traces/): all right under suite.yaml, one wrong under shop.jsonl."""
    sample(session.folder)
    suite(session.folder)
    write(session, suite__yaml=SHOP)
    (session.folder / "traces").mkdir()
    shutil.copy(session.folder / "traces.jsonl", session.folder / "traces")


def policies(session: Session) -> None:
    """The shop's files and a rule file, policies.yaml."""
    shop(session)
    write(session, policies__yaml=POLICIES)


def billing(session: Session) -> None:
    """traces/ with the 80 runs of the packaged example, its suite, and two reports, before.json and after.json."""
    write(session, suite__yaml=(app.example_folder("billing-support") / "suite.yaml").read_text("utf-8"))
    (session.folder / "traces").mkdir()
    (session.folder / "traces" / "runs.pb").write_bytes(billing_traces())
    for name in ("before.json", "after.json"):
        typed(session, f"toolselect score traces --suite suite.yaml --format json -o {name}", code=1)


def billing_traces() -> bytes:
    """The example's spans as one OTLP request, through the SDK and its encoder."""
    folder = app.example_folder("billing-support")
    memory = InMemorySpanExporter()
    provider = _agent.provider_with(SimpleSpanProcessor(memory), "billing-support")
    requests = {case.id: case.prompt or "" for case in load_suite(str(folder / "suite.yaml")).cases}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        _agent.play(_agent.Script.load(folder), "billing-support", requests)
    return encode_spans(memory.get_finished_spans()).SerializeToString()


def stored(session: Session) -> None:
    """The shop's runs are in the store, judged under shop.jsonl."""
    shop(session)
    typed(session, "toolselect replay traces.jsonl")
    typed(session, "toolselect eval --suite shop.jsonl -o scorecard.txt", code=1)


def upgrade(session: Session) -> None:
    """What somebody has who changes versions: files, a report of the old version, a store."""
    stored(session)
    write(session, policies__yaml=POLICIES)
    typed(session, "toolselect score traces.jsonl --suite suite.yaml --format json -o before.json")


def arrived(session: Session) -> None:
    """traces.jsonl goes to the store (through `serve`, when that runs)."""
    typed(session, "toolselect replay traces.jsonl")


def watched(session: Session) -> None:
    """The files that the page's settings name, runs in the store, and alerts that were looked at once."""
    stored(session)
    alerts = ALERTS.replace("NAME", "support").replace("ALERT", "wrong-tool")
    write(session, support__alerts__yaml=alerts, new__alerts__yaml=alerts.replace("support", "new"))
    write(session, policies__yaml=POLICIES)
    typed(session, "toolselect score traces.jsonl --suite suite.yaml --format json -o report.json")
    typed(session, "toolselect baseline accept report.json -o support.baseline.yaml --by ann --reviewer raj")


def captured(session: Session) -> None:
    """captured.jsonl: one run of the agent `support` in production, right under the example of rule-tests.md."""
    trace = json.loads(agent_trace(1, "refund A-1", "Done.", ("search_orders", {}, [])))
    resource = trace["resourceSpans"][0]["resource"]["attributes"]
    resource.append({"key": "deployment.environment", "value": {"stringValue": "production"}})
    line = json.dumps(trace).replace('"shop"', '"support"')
    write(session, captured__jsonl=line, traces__jsonl=line)


def agent(session: Session) -> None:
    """`serve` runs; and what an example of instrumentation takes from the agent around it."""
    typed(session, "toolselect serve")
    session.prelude = "text, messages = 'where is my refund?', []\n"


def letters(session: Session) -> None:
    """`serve` runs, and has put a request aside that it could not read."""
    typed(session, "toolselect serve")
    typed(
        session,
        "curl -s -o reply http://127.0.0.1:4318/v1/traces -H content-type:application/json -d '{\"resourceSpans\": 5}'",
    )


def foreign(session: Session) -> None:
    """cases.jsonl.gz in the form of BFCL, and traces."""
    shop(session)
    case = {
        "id": "c",
        "prompt": "where is my order?",
        "tools_offered": ["find"],
        "expected_calls": [
            {
                "tool": "find",
                "args": {"q": {"type": "string", "any_of": ["order"], "optional": False, "required_by_schema": True}},
            }
        ],
    }
    write(session, cases__jsonl=json.dumps(case) + "\n")
    typed(session, "gzip cases.jsonl", "gzip -k traces.jsonl")


def repository(session: Session) -> None:
    """The folders of the repository that the page's commands name."""
    for name in ("rules", "deploy", "src"):
        (session.folder / name).symlink_to(ROOT / name)


FIGURES = """suite: shop
version: 1
policy:
  tools: {find: {effect: read}, invoice: {effect: read}, refund: {effect: write, risk: high}}
cases:
  - {id: where, prompt: where is A-1?, expect: {first: [find]}}
  - {id: status, prompt: status of A-2, expect: {first: [find]}}
  - {id: broken, prompt: A-3 is broken, risk: high, expect: {first: [refund], args: {refund: {id: A-3}}}}
  - {id: late, prompt: A-4 is late, risk: high, expect: {first: [refund]}}
  - {id: vague, prompt: refund it, expect: {class: clarify, never: [refund]}}
"""
RUNS = (
    ("where", "where is A-1?", ("find", {"id": "A-1"}), ("find", {"id": "A-1"})),
    ("status", "status of A-2", ("find", {"id": "A-2"}), ("invoice", {"id": "A-2"})),
    ("broken", "A-3 is broken", ("refund", {"id": "A-3"}), ("refund", {"id": "A-5"})),
    ("late", "A-4 is late", ("invoice", {"id": "A-4"}), ("invoice", {"id": "A-4"})),
    ("vague", "refund it", None, ("refund", {"id": "A-1"})),
)


def figures(session: Session) -> None:
    """The ten runs of the page on figures: five cases, each tried twice."""
    lines = []
    for case, request, *attempts in RUNS:
        for attempt, call in enumerate(attempts, start=1):
            names = {"toolselect_case_id": case, "toolselect_attempt": str(attempt)}
            calls = [(*call, "ok")] if call else []
            answer = "Done." if call else "Which order do you mean?"
            lines.append(agent_trace(len(lines) + 1, request, answer, *calls, **names))
    write(session, figures__jsonl="\n".join(lines) + "\n", figures__yaml=FIGURES)


class _ScriptedModel:
    """A model on a free port, which stands for 8000 on the page; among what runs in the background, to be stopped."""

    def __init__(self, session: Session) -> None:
        self._stack = ExitStack()
        url, _ = self._stack.enter_context(serving(_by_words))
        session.ports["8000"] = url.removesuffix("/v1").rpartition(":")[2]

    def stop(self) -> None:
        self._stack.close()


def _by_words(body: Mapping[str, Any]) -> dict[str, Any]:
    """Of the first eight tools the one whose description has most words of the prompt; the first of equals."""
    asked = set(body["messages"][-1]["content"].lower().split())
    tools = [tool["function"] for tool in body["tools"]][:8]
    best = max(tools, key=lambda tool: len(asked & set(tool["description"].lower().split())))
    return {"call": best["name"]}


def model(session: Session) -> None:
    """A model that decides by words."""
    session.background.append(_ScriptedModel(session))  # type: ignore[arg-type]  # has what is used of it
