"""The `toolselect` fixture in a pytest of its own: passes, a readable difference, what it says when nothing came."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
from otel_toolselect import instrument

def agent(request, tool, ok=True):
    messages = [{"role": "user", "parts": [{"type": "text", "content": request}]}]
    with instrument.agent("shop", request, capture=True, model="m", provider="p") as run:
        with run.model(messages, model="m", provider="p") as turn:
            turn.tool_call(tool, {"id": 1}, "c1")
        with instrument.execute_tool(tool, {"id": 1}, call_id="c1", capture=True) as used:
            used.result({"ok": ok})
        run.answer("done")
"""


def session(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    (folder / "agent_under_test.py").write_text(AGENT, "utf-8")
    (folder / "test_it.py").write_text("from agent_under_test import agent\n" + body, "utf-8")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "otel_toolselect.pytest_plugin", "-p", "no:cacheprovider", "."],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**clean, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


def test_right_choices_pass_and_tests_do_not_see_each_other(tmp_path: Path) -> None:
    done = session(
        tmp_path,
        """
def test_one(toolselect):
    agent("find A-1", "find_order")
    toolselect.expect(first=["find_order"], never=["refund_order"])

def test_two(toolselect):
    agent("refund A-1", "refund_order")
    assert len(toolselect.runs) == 1
    toolselect.expect(first=["refund_order"], args={"refund_order": {"id": 1}})
    toolselect.clear()
    assert toolselect.runs == []
""",
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_wrong_choice_reads_as_a_difference(tmp_path: Path) -> None:
    done = session(
        tmp_path,
        """
def test_one(toolselect):
    agent("find A-1", "refund_order")
    toolselect.expect(first=["find_order"], never=["refund_order"],
                      policy={"find_order": {"effect": "read"}, "refund_order": {"effect": "write"}})
""",
    )
    assert done.returncode == 1
    for part in (
        "wanted find_order, got refund_order",
        "selection (fail)",
        "request: find A-1",
        'refund_order {"id": 1}',
    ):
        assert part in done.stdout
    assert "pytest_plugin.py" not in done.stdout  # the reader sees the agent, not our frames


def test_a_case_of_a_suite_file(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "suite: s\ncases:\n  - {id: c, prompt: x, expect: {first: [find_order]}}\n", "utf-8"
    )
    done = session(
        tmp_path,
        """
def test_right(toolselect):
    agent("find A-1", "find_order")
    toolselect.expect_case("s.yaml", "c")

def test_no_case(toolselect):
    toolselect.expect_case("s.yaml", "d")
""",
    )
    assert "1 passed" in done.stdout
    assert "s.yaml has no case 'd'" in done.stdout


SPAN = "from opentelemetry import trace; trace.get_tracer('t').start_span('s').end()"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("toolselect.expect(first=['x'])", "no span was captured"),
        (f"{SPAN}; toolselect.expect(first=['x'])", "1 spans were captured, but no agent run"),
        ("toolselect.expect(frist=['x'])", "did you mean 'first'?"),
    ],
)
def test_what_went_wrong_is_said(tmp_path: Path, body: str, said: str) -> None:
    done = session(tmp_path, f"\ndef test_one(toolselect):\n    {body}\n")
    assert done.returncode == 1
    assert said in done.stdout


def test_a_provider_of_ones_own(tmp_path: Path) -> None:
    done = session(
        tmp_path,
        """
from opentelemetry.sdk.trace import TracerProvider

def test_one(toolselect):
    provider = TracerProvider()
    provider.add_span_processor(toolselect.processor)
    tracer = provider.get_tracer("mine")
    with tracer.start_as_current_span("execute_tool find", attributes={
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}):
        pass
    toolselect.expect(first=["find"])
""",
    )
    assert "1 passed" in done.stdout, done.stdout


def test_loads_little() -> None:
    shown = "print(*[m for m in sys.modules if 'opentelemetry' in m or 'pydantic' in m])"
    code = f"import sys, otel_toolselect.pytest_plugin; {shown}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
