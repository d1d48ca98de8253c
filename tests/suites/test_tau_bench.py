"""`tau-bench`: successful writes as a multiset, texts that must be said, conversations that end."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.errors import InputError
from tests.builders import call, run
from tests.suites.conftest import Import, judged, lines, right

BOOK = {"tool": "book", "args": {"user": "u1", "legs": [{"no": "A1", "day": "2024-05-01"}], "bags": 2}}
DEFINITION = {
    "type": "function",
    "name": "book",
    "parameters": {
        "properties": {
            "user": {"type": "string"},
            "legs": {"type": "array", "items": {"properties": {"no": {}, "day": {}, "seat": {}}}},
            "bags": {"type": "integer"},
        }
    },
}


def task(*writes: dict[str, Any], outputs: tuple[str, ...] = (), **more: Any) -> str:
    record = {
        "id": "t-0",
        "prompt": "You are u1.",
        "tools_offered": ["book", "cancel", "look"],
        "write_tools": ["book", "cancel"],
        "tool_definitions": [DEFINITION],
        "required_write_calls": list(writes),
        "required_outputs": list(outputs),
        **more,
    }
    return lines(record)


ARGS = BOOK["args"]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([call("look", ok=True), call("book", ARGS, ok=True)], True),
        ([call("book", ARGS, ok=False), call("book", ARGS, ok=True)], True),
        ([call("book", ARGS, ok=True), call("book", ARGS, ok=True)], False),
        ([call("book", {**ARGS, "bags": 2.0}, ok=True)], True),
        ([call("book", {**ARGS, "bags": 3}, ok=True)], False),
        ([call("book", {**ARGS, "note": "x"}, ok=True)], False),
        ([call("book", {**ARGS, "legs": [{"no": "A1", "day": "2024-05-01", "from": "JFK"}]}, ok=True)], True),
        ([call("book", {**ARGS, "legs": [{"no": "A1", "day": "2024-05-01", "seat": "2A"}]}, ok=True)], False),
        ([call("book", ARGS, ok=True), call("cancel", ok=True)], False),
        ([call("look", ok=True)], False),
    ],
)
def test_writes(imported: Import, calls: list[Any], expected: bool) -> None:
    found = judged(imported("tau-bench", task(BOOK)), run(*calls, final="Done."))
    assert right(found) == expected, found.layers


def test_a_task_without_writes_is_lost_by_writing(imported: Import) -> None:
    suite = imported("tau-bench", task())
    assert right(judged(suite, run(call("look", ok=True), final="No.")))
    found = judged(suite, run(call("cancel", ok=True), final="Cancelled."))
    assert (found.layers["selection"].status, found.failure) == ("fail", "premature_action")


def test_outputs_are_said_commas_and_case_aside(imported: Import) -> None:
    suite = imported("tau-bench", task(outputs=("1786", "Gold")))
    assert right(judged(suite, run(final="You pay 1,786 as a GOLD member.")))
    assert not right(judged(suite, run(final="You pay 1,786.")))


def test_a_conversation_at_the_limit_of_steps_is_lost(imported: Import) -> None:
    suite = imported("tau-bench", task(max_steps=5))
    assert right(judged(suite, run(*[call("look", ok=True)] * 3, final="Bye.")))
    assert not right(judged(suite, run(*[call("look", ok=True)] * 4, final="Bye.")))


def test_the_benchmarks_own_form(imported: Import) -> None:
    actions = [{"name": "get_user", "arguments": {}}, {"name": "cancel_order", "arguments": {"id": "5"}}]
    suite = imported("tau-bench", lines({"instruction": "You are u1.", "actions": actions, "outputs": ["7"]}))
    assert suite.cases[0].prompt == "You are u1."
    assert right(judged(suite, run(call("cancel_order", {"id": "5"}, ok=True), final="7")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines({"id": "a", "required_write_calls": []}), "no task names a tool that writes"),
        (lines({"id": "a", "required_write_calls": [{"args": {}}]}), "needs a tool and args"),
    ],
)
def test_mistakes(imported: Import, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        imported("tau-bench", text)
