"""Every matcher: values that fit, values that do not, how it may not be written; none may be without a row."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.rules.matching import PLANNED, matchers
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

ABSENT = object()

FITS: dict[str, list[tuple[str, list[Any], list[Any]]]] = {
    "literal": [
        ("{literal: {range: [1, 2]}}", [{"range": [1, 2]}], [1, {"range": [2, 1]}, ABSENT]),
        ("{literal: null}", [None], [ABSENT, 0, ""]),
    ],
    "one_of": [("{one_of: [a, 1, {range: [5, 6]}]}", ["a", 1, 1.0, 5.5], ["b", 2, True, ABSENT])],
    "any": [("{any: true}", [None, 0, "", [1]], [ABSENT]), ("{any: true, optional: true}", [ABSENT, 1], [])],
    "absent": [("{absent: true}", [ABSENT], [None, 0])],
    "matches": [
        ('{matches: "^A-\\\\d+$"}', ["A-1"], ["xA-1", "A-1\nB", 5, ABSENT]),
        ("{matches: b+}", ["abba"], ["aa", ["b"]]),
    ],
    "range": [
        ("{range: [1, 2.50]}", [1, 1.5, 2.5], [0.99, 3, "1", True, None]),
        ("{range: [null, 0]}", [-5, 0], [1]),
        ("{range: [3, null]}", [3, 10**30], [2]),
    ],
    "approx": [
        ("{approx: 79.90}", [79.9, 79.90000001], [80, "79.9", True]),
        ("{approx: 100, abs: 5}", [95, 105], [94.9]),
        ("{approx: 100, rel: 0.1, abs: 1}", [90, 110], [111]),
    ],
    "contains": [
        ("{contains: head}", ["my headphones", ["head"]], ["Head", ["headphones"], 5]),
        ("{contains: [a, b]}", ["ab", ["b", "a"]], ["a", ["a"]]),
        ("{contains: [1]}", [[1.0, 2]], ["1", [True]]),
    ],
    "set": [
        ("{set: [a, b, b]}", [["b", "a", "b"]], [["a", "b"], ["a", "b", "b", "b"], ["a", "a", "b"], "abb"]),
        ("{set: [{any: true}, a]}", [["a", "x"], ["a", "a"]], [["x", "x"]]),
        ("{set: []}", [[]], [["a"]]),
    ],
    "text": [
        ('{text: "Café  Lune"}', ["cafe\u0301 lune", "CAFÉ LUNE "], ["Cafe Lune", 5]),
        ("{text: Paris, ignore_case: false}", ["Paris", " Paris"], ["paris"]),
        ("{text: Paris, ignore_space: false}", ["paris"], ["paris "]),
        ("{text: x², unicode: NFC}", ["X²"], ["x2"]),
        ("{text: Straße}", ["STRASSE"], ["Strase"]),
    ],
}  # fmt: skip

ROWS = [(name, *row) for name, rows in FITS.items() for row in rows]


@pytest.mark.parametrize(("name", "written", "good", "bad"), ROWS)
def test_matcher(name: str, written: str, good: list[Any], bad: list[Any]) -> None:
    for value, status in [*((v, "pass") for v in good), *((v, "fail") for v in bad)]:
        args = {} if value is ABSENT else {"x": value}
        layer = verdict(f"{{args: {{book: {{x: {written}}}}}}}", run(call("book", args))).layers["arguments"]
        assert layer.status == status, (value, layer.explanation)
        assert status == "pass" or "x " in layer.explanation


def test_every_matcher_has_rows() -> None:
    assert set(FITS) | {"judge"} == set(matchers())  # a judge has nobody to ask here: see test_judge_matcher
    assert not PLANNED & set(matchers()), "a matcher that exists is no longer planned"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{any: false}", "any: false would match nothing"),
        ("{absent: false}", "write {any: true}"),
        ("{one_of: []}", "nothing could match"),
        ("{one_of: a}", "one_of must be a list"),
        ("{range: [2, 1]}", "the wrong way round"),
        ("{range: [1]}", "two ends"),
        ("{range: [a, 2]}", "must be a number"),
        ("{approx: x}", "approx must be a number"),
        ("{approx: 5, abs: -1}", "cannot be negative"),
        ("{contains: []}", "everything would match"),
        ("{matches: '(a'}", "is not an RE2 pattern"),
        ("{matches: '(?=a)'}", "RE2 has no look-around"),
        ("{matches: '(((a{1,100}){1,100}){1,100})'}", "is not an RE2 pattern"),
        ("{text: Paris, unicode: NFX}", "unicode cannot be 'NFX'"),
        ("{money: 5}", "the matcher 'money' is not supported yet"),
        ("{one_off: [a]}", "did you mean 'one_of'?"),
    ],
)
def test_mistakes(written: str, said: str) -> None:
    found = problems_in(f"{{args: {{book: {{x: {written}}}}}}}")
    assert len(found) == 1, found
    assert said in found[0]


def test_a_pattern_has_a_length_limit() -> None:
    found = problems_in(f"{{args: {{book: {{x: {{matches: {'a' * 5000}}}}}}}}}")
    assert len(found) == 1
    assert "the limit is 4,000" in found[0]


@pytest.mark.parametrize(
    ("written", "value", "said"),
    [
        ('"Caf\\u00e9"', "Cafe\u0301", "Unicode form only"),
        ("Paris", "paris", "case only"),
        ("1.10", 1.1, "unquoted 1.10 keeps its text"),
        ("'5'", 5, "a text is not a number"),
    ],
)
def test_values_that_look_alike_are_told_apart(written: str, value: Any, said: str) -> None:
    layer = verdict(f"{{args: {{book: {{x: {written}}}}}}}", run(call("book", {"x": value}))).layers["arguments"]
    assert (layer.status, said in layer.explanation) == ("fail", True), layer.explanation
