"""`args`: one finding per call, unknown arguments never wrong."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.model.runs import ToolDefinition, Unknown
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict


@pytest.mark.parametrize(
    ("written", "args", "wrong"),
    [
        ("{id: A-25}", {"id": "A-25"}, []),
        ("{id: A-25}", {"id": "A-25", "other": 1}, []),
        ("{id: A-25}", {"id": "a-25"}, ["id"]),
        ("{id: A-25}", {}, ["id"]),
        ("{id: A-25, n: 1}", {}, ["id", "n"]),
        ("{n: 1}", {"n": 1.0}, []),
        ("{n: 1}", {"n": True}, ["n"]),
        ("{n: 1}", {"n": "1"}, ["n"]),
        ("{n: null}", {"n": None}, []),
        ("{n: null}", {}, ["n"]),
        ("{n: 12345678901234567890}", {"n": 12345678901234567890}, []),
        ("{n: 12345678901234567890}", {"n": 12345678901234567891}, ["n"]),
        ("{o: {a: 1, b: [1, 2]}}", {"o": {"b": [1, 2], "a": 1}}, []),
        ("{o: {a: 1}}", {"o": {"a": 1, "b": 2}}, ["o"]),
        ("{o: {a: {range: [1, 2]}, b: {any: true, optional: true}}}", {"o": {"a": 2}}, []),
        ("{o: {a: {range: [1, 2]}}}", {"o": {"a": 2, "b": 2}}, ["o"]),
        ("{o: {a: {range: [1, 2]}}}", {"o": 3}, ["o"]),
        ("{l: [1, {any: true}]}", {"l": [1, "x"]}, []),
        ("{l: [1, {any: true}]}", {"l": [1]}, ["l"]),
        ("{n: {optional: true}}", {}, []),
        ("{n: {optional: true}}", {"n": 5}, []),
        ("{n: {literal: 5, optional: true}}", {"n": 6}, ["n"]),
        ("{contact: {phone: '123', name: Bob}}", {"contact": {"phone": "123", "name": "Bob"}}, []),
    ],
)
def test_args(written: str, args: dict[str, Any], wrong: list[str]) -> None:
    found = verdict(f"{{args: {{book: {written}}}}}", run(call("book", args)))
    layer = found.layers["arguments"]
    assert layer.status == ("fail" if wrong else "pass"), layer.explanation
    assert [m["argument"] for m in layer.evidence["calls"][0].get("mismatches", [])] == wrong
    assert [(s.name, s.passed) for s in found.call_scores] == [("book", not wrong)]


def test_each_call_of_the_tool_is_judged() -> None:
    found = verdict(
        "{args: {book: {n: 1}}}", run(call("book", {"n": 1}), call("search_orders"), call("book", {"n": 2}))
    )
    assert [(s.seq, s.passed) for s in found.call_scores] == [(0, True), (2, False)]
    assert found.layers["arguments"].status == "fail"


def test_unknown_arguments_are_reviewed_not_failed() -> None:
    found = verdict("{args: {book: {n: 1}}}", run(call("book", Unknown("not recorded"))))
    assert found.layers["arguments"].status == "needs_review"
    assert "not recorded" in found.layers["arguments"].explanation
    assert (found.call_scores, found.failure) == ((), None)


@pytest.mark.parametrize(
    ("written", "args", "status"),
    [
        ("{n: 1}", {}, "pass"),
        ("{n: 2}", {}, "fail"),
        ("{n: 1}", {"n": None}, "fail"),
        ("{n: {absent: true}}", {}, "pass"),
        ("{m: 1}", {}, "fail"),
    ],
)
def test_what_is_left_out_has_its_default(written: str, args: dict[str, Any], status: str) -> None:
    schema = {"properties": {"n": {"type": ["integer", "null"], "default": 1}, "m": {}}}
    given = run(call("book", args), tools=[ToolDefinition("book", schema=schema)])
    assert verdict(f"{{args: {{book: {written}}}}}", given).layers["arguments"].status == status


def test_a_run_without_the_tool_is_not_concerned() -> None:
    assert verdict("{args: {book: {n: 1}}}", run(call("search_orders"))).layers["arguments"].status == "n/a"


def test_arguments_of_a_forbidden_call_are_not_judged() -> None:
    found = verdict("{first: [search_orders], never: [book], args: {book: {n: 1}}}", run(call("book", {"n": 2})))
    assert (found.layers["arguments"].status, found.call_scores) == ("n/a", ())


def test_aliases_are_one_tool() -> None:
    assert verdict("{args: {search_orders: {n: 1}}}", run(call("find_orders", {"n": 1}))).call_scores[0].passed


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{args: {bok: {n: 1}}}", "did you mean 'book'?"),
        ("{args: {book: [1]}}", "args of 'book' must be a mapping"),
        ("{args: {book: {n: {one_off: [1]}}}}", "unknown matcher 'one_off' (did you mean 'one_of'?"),
        ("{args: {book: {n: {any: true, optional: yes}}}}", "optional must be true or false"),
        ("{args: {search_orders: {}, find_orders: {}}}", "twice, once under an alias"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
