"""The offered schema: required, unknown and ill-typed arguments (R25)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.model.runs import ToolDefinition, Unknown
from tests.builders import call, run
from tests.rules.suites import verdict

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "n": {"type": "integer"},
        "kind": {"enum": ["a", "b"]},
        "maybe": {"type": ["string", "null"]},
    },
    "required": ["id"],
}


@pytest.mark.parametrize(
    ("schema", "args", "wrong"),
    [
        (SCHEMA, {"id": "A"}, []),
        (SCHEMA, {"id": "A", "n": 2.0, "kind": "b", "maybe": None}, []),
        (SCHEMA, {"n": True}, ["id", "n"]),
        (SCHEMA, {"id": "A", "n": 2.5}, ["n"]),
        (SCHEMA, {"id": "A", "kind": "c"}, ["kind"]),
        (SCHEMA, {"id": "A", "discount": 3}, ["discount"]),
        (SCHEMA | {"additionalProperties": True}, {"id": "A", "discount": 3}, []),
        ({"type": "dict", "properties": {"x": {"type": "float"}, "y": {"type": "any"}}}, {"x": 1, "y": 2}, []),
    ],
)
def test_schema(schema: dict[str, Any], args: dict[str, Any], wrong: list[str]) -> None:
    tools: list[str | ToolDefinition] = [ToolDefinition("book", schema=schema)]
    found = verdict("{first: [book]}", run(call("book", args), tools=tools))
    layer = found.layers["arguments"]
    assert layer.status == ("fail" if wrong else "pass"), layer.explanation
    assert [m["argument"] for m in layer.evidence["calls"][0].get("mismatches", [])] == wrong


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"properties": []}])
def test_a_schema_that_names_no_property_says_nothing(schema: dict[str, Any] | None) -> None:
    tools: list[str | ToolDefinition] = [ToolDefinition("book", schema=schema)]
    found = verdict("{first: [book]}", run(call("book", {"x": 1}), tools=tools))
    assert found.layers["arguments"].status == "n/a"


def test_calls_of_another_tool_are_not_judged() -> None:
    tools: list[str | ToolDefinition] = [ToolDefinition("search_orders", schema=SCHEMA), "book"]
    found = verdict("{first: [book]}", run(call("search_orders", {"discount": 3}), tools=tools))
    assert (found.layers["arguments"].status, found.call_scores) == ("n/a", ())


def test_unknown_arguments_are_reviewed() -> None:
    tools: list[str | ToolDefinition] = [ToolDefinition("book", schema=SCHEMA)]
    found = verdict("{first: [book]}", run(call("book", Unknown("capture is off")), tools=tools))
    assert found.layers["arguments"].status == "needs_review"


DEEP = {
    "properties": {
        "lines": {"type": "array", "items": {"required": ["id"], "properties": {"id": {"minLength": 2}}}},
        "n": {"type": "integer", "minimum": 1},
        "code": {"type": "string", "pattern": "^(a+)+$"},
        "ref": {"$ref": "#/$defs/tag"},
        "far": {"$ref": "https://example.invalid/schema"},
        "bad": {"type": "dict", "properties": {"x": {"type": "float"}}, "minimum": "three"},
    },
    "$defs": {"tag": {"enum": ["x", "y"]}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"lines": [{"id": "ab"}]}, ""),
        ({"lines": [{"id": "ab"}, {}]}, "does not fit its schema at 1"),
        ({"lines": [{"id": "a"}]}, "does not fit its schema at 0.id"),
        ({"n": 1}, ""),
        ({"n": 0}, "0 is less than the minimum of 1"),
        ({"n": "1"}, "not of type integer"),
        ({"code": "aaa"}, ""),
        ({"code": "a" * 5000 + "b"}, "does not fit its schema"),
        ({"ref": "x"}, ""),
        ({"ref": "z"}, "does not fit its schema"),
        ({"far": 1}, ""),
        ({"bad": {"x": "y"}}, ""),
        ({"bad": 5}, "not of type dict"),
    ],
)
def test_what_the_schema_says_below(args: dict[str, Any], said: str) -> None:
    given = run(call("book", args), tools=[ToolDefinition("book", schema=DEEP)])
    layer = verdict("{first: [book]}", given).layers["arguments"]
    assert (layer.status, said in layer.explanation) == ("fail" if said else "pass", True), layer.explanation
