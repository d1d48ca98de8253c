"""`bfcl`: the checker's rules, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.errors import InputError
from tests.builders import call, run
from tests.suites.conftest import Import, judged, lines, right


def arg(
    type_: str, *any_of: Any, items: str | None = None, optional: bool = False, required: bool = True
) -> dict[str, Any]:
    return {
        "type": type_,
        "item_type": items,
        "any_of": list(any_of),
        "optional": optional,
        "required_by_schema": required,
    }


def case(*calls: dict[str, Any], **more: Any) -> str:
    tools = sorted({c["tool"] for c in calls} or {"area"})
    return lines({"id": "c", "prompt": "p", "tools_offered": tools, "expected_calls": list(calls), **more})


ABSENT = object()


@pytest.mark.parametrize(
    ("spec", "good", "bad"),
    [
        (arg("integer", 10), [10], [10.0, 11, True, "10", None, ABSENT]),
        (arg("integer", 1), [1], [True]),
        (arg("float", 5), [5, 5.0], [5.1, "5", True]),
        (arg("float", 5.5), [5.5], [5]),
        (arg("boolean", True), [True], [1, "true", False]),
        (arg("string", "New York, NY"), ["new york ny", "NEW-YORK NY"], ["york", 5]),
        (arg("string", "it's"), ['it"s'], ["its"]),
        (arg("any", "data"), ["Data"], [5]),
        (arg("string", "m", optional=True, required=False), ["M", "", ABSENT], ["km"]),
        (arg("string", "m", optional=True, required=True), ["m", ""], [ABSENT]),
        (arg("string", "m", required=False), ["m"], [ABSENT]),
        (arg("integer", optional=True, required=False), [ABSENT], [0, ""]),
        (arg("integer", "n_items"), ["n_items"], ["N_items", "nitems", 5]),  # a variable keeps its spelling
        (arg("array", [1, 2], items="integer"), [[1, 2]], [[2, 1], [1.0, 2], [1], [1, 2, 3], "1,2"]),
        (arg("array", [1.0, 2.5], items="float"), [[1.0, 2.5]], [[1, 2.5]]),  # items are not widened
        (arg("array", [1, 2], items="float"), [[1, 2], [1.0, 2.0]], [[1, 3]]),
        (arg("array", ["A b"], items="string"), [["a-B"]], [["ab", "c"]]),
        (arg("array", [1], items="integer", optional=True, required=False), [[1], [1.0], [], ABSENT], [[2]]),
        (arg("array", [[1, 2], [3]], items="array"), [[[1, 2], [3]], [[1.0, 2], [3]]], [[[1], [3]]]),
        (arg("tuple", [1.5, -2.25], items="float"), [[1.5, -2.25]], [[1.5, 2.25]]),
        (arg("dict", {"name": ["Jo Li"], "age": [3, 4]}), [{"name": "jo li", "age": 4.0}], [{"name": "jo li"}, 5]),
        (arg("dict", {"name": ["x"]}), [{"name": "X"}], [{"name": "x", "more": 1}, {"name": "y"}, {}]),
        (arg("dict", {"range": [5], "in": {"text": ["a"]}}), [{"range": 5, "in": {"text": "A"}}], [{"range": 5}]),
        (arg("dict", {"range": [5]}), [{"range": 5}], [{"range": 6}]),  # a member that is called like a matcher
        (arg("array", [{"f": ["a"]}, {"f": ["b"]}], items="dict"), [[{"f": "A"}, {"f": "b"}]], [[{"f": "b"}], []]),
    ],
)  # fmt: skip
def test_values(imported: Import, spec: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    suite = imported("bfcl", case({"tool": "area", "args": {"x": spec}}))
    for value, expected in [*((v, True) for v in good), *((v, False) for v in bad)]:
        found = judged(suite, run(call("area", {} if value is ABSENT else {"x": value})))
        assert right(found) == expected, (value, found.layers["arguments"].explanation)


X, Y = {"tool": "area", "args": {"x": arg("integer", 1)}}, {"tool": "size", "args": {"x": arg("integer", 2)}}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("area", 1), ("size", 2)], True),
        ([("size", 2), ("area", 1)], True),
        ([("area", 1)], False),
        ([("area", 1), ("size", 2), ("area", 1)], False),
        ([("area", 1), ("area", 1)], False),
        ([("area", 1), ("size", 3)], False),
        ([], False),
    ],
)
def test_any_order_and_exact_count(imported: Import, calls: list[tuple[str, int]], expected: bool) -> None:
    suite = imported("bfcl", case(X, Y), packed=True)
    assert right(judged(suite, run(*(call(name, {"x": x}) for name, x in calls)))) == expected


def test_no_other_argument_and_no_schema_beside(imported: Import) -> None:
    suite = imported("bfcl", case(X))
    assert not right(judged(suite, run(call("area", {"x": 1, "y": 2}))))
    variable = imported("bfcl", case({"tool": "t", "args": {"n": arg("integer", "var")}}))
    assert right(judged(variable, run(call("t", {"n": "var"}))))


def test_relevance_accepts_any_outcome_but_a_call(imported: Import) -> None:
    suite = imported("bfcl", case())
    for text in ("It is 25.", "Which unit?", "", None):
        assert right(judged(suite, run(final=text)))
    assert not right(judged(suite, run(call("area"))))


def test_both_spellings_of_a_name_are_one_tool(imported: Import) -> None:
    dotted = {"tool": "math.area", "args": {}}
    suite = imported("bfcl", case(dotted, tool_aliases={"math.area": "math_area"}, dataset="set-1"))
    assert suite.name == "set-1"
    assert right(judged(suite, run(call("math_area"))))
    assert right(judged(suite, run(call("math.area"))))


def test_what_the_answer_lacks_but_the_schema_requires_can_never_be_right(imported: Import) -> None:
    definition = {"name": "area", "parameters": {"type": "dict", "properties": {"y": {}}, "required": ["x", "y"]}}
    suite = imported("bfcl", case(X, tool_definitions=[definition]))
    assert not right(judged(suite, run(call("area", {"x": 1}))))
    assert not right(judged(suite, run(call("area", {"x": 1, "y": 2}))))


def test_the_leaderboards_own_form(imported: Import) -> None:
    function = {
        "name": "area",
        "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}, "u": {"type": "string"}}},
    }
    truth = [{"area": {"x": [1], "u": ["", "cm"]}}]
    suite = imported("bfcl", lines({"id": "c", "prompt": "p", "function": [function], "ground_truth": truth}))
    assert right(judged(suite, run(call("area", {"x": 1}))))
    assert right(judged(suite, run(call("area", {"x": 1, "u": "CM"}))))
    assert not right(judged(suite, run(call("area", {"x": 1, "u": "m"}))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"prompt": "p"}', "cases.jsonl:1: the case has no id"),
        ('{"id": "a"}\n{"id": ', "cases.jsonl:2: not valid JSON"),
        ('{"id": "a", "expected_calls": [{"args": {}}]}', "needs a tool and args"),
        ('{"id": "a", "expected_calls": [{"tool": "t", "args": {"x": 5}}]}', "needs type and any_of"),
        ("5", "must be a JSON object"),
        ("", "holds no case"),
    ],
)
def test_mistakes_have_a_place(imported: Import, text: str, said: str) -> None:
    with pytest.raises(InputError, match=r".") as caught:
        imported("bfcl", text)
    assert said in str(caught.value)


def test_any_text_survives_the_file(imported: Import) -> None:
    text = "a\u2028b \U0001f600 \x85 NO 1.10 \ud800 'x' \"y\""
    suite = imported("bfcl", case({"tool": "area", "args": {"x": arg("string", text)}}))
    assert right(judged(suite, run(call("area", {"x": text}))))
