"""Transcripts of OpenAI and Anthropic read as runs, by the path that traces take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.app import runs_from_files
from otel_toolselect.errors import InputError
from otel_toolselect.model.runs import Run
from otel_toolselect.suites.importing import open_source
from otel_toolselect.suites.transcripts import traces

ASK = {"role": "user", "content": "Where is A-1?"}
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {"id": {}}}}}]
CHAT = [
    {"role": "system", "content": "Be brief."},
    ASK,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": '{"id": "A-1"}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": '{"at": "sea"}'},
    {"role": "assistant", "content": "It is at sea."},
]
RESPONSES = {
    "instructions": "Be brief.",
    "input": "Where is A-1?",
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "1", "name": "find", "arguments": '{"id": "A-1"}'},
        {"type": "function_call_output", "call_id": "1", "output": '{"at": "sea"}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is at sea."}]},
    ],
}
ANTHROPIC = {
    "system": "Be brief.",
    "tools": [{"name": "find", "input_schema": {"type": "object", "properties": {"id": {}}}}],
    "messages": [
        ASK,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "tool_use", "id": "1", "name": "find", "input": {"id": "A-1"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": '{"at": "sea"}'}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is at sea."}]},
    ],
}


def runs(tmp_path: Path, *records: Any) -> list[Run]:
    path, out = tmp_path / "chats.jsonl", tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    out.write_text("".join(traces(open_source(str(path)))), encoding="utf-8")
    return runs_from_files([str(out)])


@pytest.mark.parametrize("record", [CHAT, {"messages": CHAT, "tools": TOOLS}, RESPONSES, ANTHROPIC])
def test_one_run_per_transcript(tmp_path: Path, record: Any) -> None:
    (run,) = runs(tmp_path, record)
    (call,) = run.calls
    (result,) = run.results
    assert (call.name, call.args, call.emitted, call.executed) == ("find", {"id": "A-1"}, True, True)
    assert (result.call_seq, result.value, result.ok) == (call.seq, {"at": "sea"}, True)
    assert (run.request, run.final_text) == ("Where is A-1?", "It is at sea.")
    assert run.incomplete is None


def test_tools_and_case_are_kept(tmp_path: Path) -> None:
    named = {"messages": CHAT, "tools": TOOLS, "case_id": "c-1", "suite": "s", "attempt": 2, "model": "m"}
    found, other = sorted(runs(tmp_path, named, {"id": "c-2", "messages": CHAT}), key=lambda r: r.case_id or "")
    assert (found.case_id, found.suite, found.attempt, found.model) == ("c-1", "s", 2, "m")
    assert found.tools_offered == ("find",)
    assert (other.case_id, other.tools) == ("c-2", None)


def test_an_error_block_is_a_failed_call(tmp_path: Path) -> None:
    record = json.loads(json.dumps(ANTHROPIC))
    record["messages"][2]["content"][0]["is_error"] = True
    (run,) = runs(tmp_path, record)
    assert run.results[0].ok is False


def test_equal_transcripts_are_two_runs_and_writing_again_gives_the_same(tmp_path: Path) -> None:
    first = [r.run_id for r in runs(tmp_path, CHAT, CHAT)]
    assert len(set(first)) == 2
    assert [r.run_id for r in runs(tmp_path, CHAT, CHAT)] == first


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"text": "x"}, "a transcript is a list of messages"),
        ([{"role": "narrator"}], "a message has the role 'narrator'"),
        ([{"role": "assistant", "tool_calls": [{"id": "1"}]}], "a tool call has no name"),
    ],
)
def test_mistakes(tmp_path: Path, record: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        runs(tmp_path, record)
    assert "chats.jsonl: " in str(caught.value)
