"""Every matcher: values that fit, values that do not, how it may not be written; none may be without a row."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.model.runs import Unknown
from otel_toolselect.rules.matching import matchers
from tests.builders import Planned, call, run
from tests.rules.suites import problems_in, verdict

ABSENT = object()
FRIDAY = 1_793_361_600 * 10**9  # 2026-10-30, noon in UTC

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
        ("{approx: 79.90}", [79.9, 79.90000001], [80, "79.9", True, 10**400]),
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
    "date": [
        (
            "{date: 2026-11-03}",
            ["2026-11-03", "November 3, 2026", "3 Nov 2026", "3rd of November 2026", "03.11.2026", "2026/11/3",
             "2026-11-03T23:00:00-05:00", "3 de noviembre de 2026", "in 4 days"],
            ["2026-11-04", "03/11/2026", "11/03/2026", "03/11/26", "2026-02-30", "November 3", "12", "", 20261103, None,
             "A-1001", ABSENT],
        ),
        ("{date: 2026-11-13}", ["13/11/2026", "11/13/2026", "2026-11-13"], ["11/12/2026"]),
        ("{date: 2026-11-03, format: DD/MM/YYYY}", ["03/11/2026", "2026-11-03"], ["11/03/2026"]),
        ("{date: 2026-11-03, format: ['%m/%d/%Y']}", ["11/03/2026"], ["03/11/2026"]),
        (
            "{date: 2026-11-03, zone: Europe/Berlin}",
            ["2026-11-02T23:30:00Z"],
            ["2026-11-02T22:30:00Z", "9999-12-31T23:59:59-12:00"],
        ),
        ("{date: next Tuesday}", ["2026-11-03", "tuesday", "next tuesday"], ["2026-10-27", "2026-11-10"]),
        ("{date: tomorrow}", ["2026-10-31"], ["2026-10-30"]),
        ("{date: last friday}", ["2026-10-23"], ["2026-10-30"]),
        ("{date: in 2 weeks}", ["2026-11-13"], []),
        ("{date: tomorrow, today: 2026-01-01}", ["2026-01-02"], ["2026-10-31"]),
    ],
    "datetime": [
        (
            '{datetime: "2026-11-02T22:30:00Z"}',
            ["2026-11-02T23:30:00+01:00", "2026-11-02T22:30:00.000Z", "2026-11-02 22:30:00Z"],
            ["2026-11-02T22:30:01Z", "2026-11-02T22:30:00", "2026-11-02", "02/11/2026 22:30", "x", 5, ABSENT],
        ),
        ('{datetime: "2026-11-02T23:30:00", zone: Europe/Berlin}', ["2026-11-02T22:30:00Z", "2026-11-02T23:30:00"], []),
        ('{datetime: "2026-11-02T22:30:00Z", within: 60}', ["2026-11-02T22:31:00Z"], ["2026-11-02T22:31:01Z"]),
    ],
    "phone": [
        ('{phone: "+49 30 1234567"}', ["+49301234567", "030 1234567", "(030) 123 45 67", 49301234567], ["+49301234568",
         "abc", "", None, ABSENT, "9" * 100]),
        ('{phone: "030 1234567", region: DE}', ["+49 30 1234567"], ["+1 30 1234567"]),
    ],
    "money": [
        (
            '{money: "79.90 EUR"}',
            ["€79.90", "79,90 €", "EUR 79.90", 79.9, "79.9", {"amount": "79.90", "currency": "EUR"}, "79.90 euros"],
            ["79.90 USD", "$79.90", 79.91, -79.9, "-79.90 EUR", "about 79.90 maybe", "A-79.90", True, None, [79.9],
             {"amount": 79.9, "currency": "USD"}, ABSENT],
        ),
        ("{money: 1234.5, currency: EUR}", ["1.234,50 €", "1,234.50"], ["1234.50 GBP"]),
        ('{money: "$20"}', ["20 USD", "CAD 20", 20], ["20 EUR"]),
        ('{money: "-5 EUR"}', ["-5.00 €", "(5 EUR)"], ["5 EUR"]),
    ],
    "from_result": [
        (
            '{from_result: search_orders, path: "$.orders[*].id"}',
            ["A-1", 7],
            ["A-2", "7", "x", ABSENT],
        ),
        ("{from_result: search_orders}", ["A-1", "x"], ["A-9"]),
    ],
    "loose": [('{loose: "New-York, N.Y."}', ["new york ny", "NEW_YORK NY"], ["new yorks", 5, None, ABSENT])],
    "typed": [
        ("{typed: 5}", [5], [5.0, 6, True, "5", None, ABSENT]),
        ("{typed: 1}", [1], [True]),
        ("{typed: 5.0}", [5.0], [5, "5.0"]),
    ],
    "object": [
        ("{object: {range: 5}}", [{"range": 5}], [5, {}, {"range": 5, "x": 1}]),
        ("{object: {optional: {any: true, optional: true}}}", [{}, {"optional": 1}], [{"x": 1}, ABSENT]),
        ("{object: {a: 1, b: {absent: true}}, open: true}", [{"a": 1}, {"a": 1, "x": 2}], [{"a": 1, "b": 2}, 5]),
    ],
}  # fmt: skip

ROWS = [(name, *row) for name, rows in FITS.items() for row in rows]


@pytest.mark.parametrize(("name", "written", "good", "bad"), ROWS)
def test_matcher(name: str, written: str, good: list[Any], bad: list[Any]) -> None:
    for value, status in [*((v, "pass") for v in good), *((v, "fail") for v in bad)]:
        args = {} if value is ABSENT else {"x": value}
        found = call("search_orders", ok=True, value={"orders": [{"id": "A-1"}, {"id": 7}], "note": "x"})
        given = run(found, call("book", args), start_ns=FRIDAY)
        layer = verdict(f"{{args: {{book: {{x: {written}}}}}}}", given).layers["arguments"]
        assert layer.status == status, (value, layer.explanation)
        assert status == "pass" or "x " in layer.explanation


def test_every_matcher_has_rows() -> None:
    assert set(FITS) | {"judge"} == set(matchers())  # a judge has nobody to ask here: see test_judge_matcher


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
        ("{date: someday}", "date: 'someday' is no full date"),
        ("{date: 03/11/2026}", "03/11/2026 is ambiguous (2026-11-03 or 2026-03-11)"),
        ("{date: 2026-02-30}", "is no day of the calendar"),
        ("{date: 2026-11-03, zone: Berlin}", "unknown time zone 'Berlin'"),
        ("{date: 2026-11-03, format: DD/MM}", "names no day, month and year"),
        ("{datetime: 2026-11-03T10:00:00}", "has no offset: name the zone"),
        ("{date: tomorrow, today: today}", "today 'today' is no date"),
        ("{datetime: noonish}", "is no full time"),
        ("{phone: '12'}", "is no telephone number"),
        ("{phone: '030 1234567', region: Germany}", "unknown region"),
        ("{money: twenty}", "money: 'twenty' is no amount"),
        ("{money: 5, currency: bucks}", "unknown currency"),
        ("{from_result: search_order}", "did you mean 'search_orders'?"),
        ("{from_result: search_orders, path: 'orders[0]'}", "does not begin at the result"),
        ("{from_result: search_orders, path: '$.a['}", "is no JSONPath"),
        ("{from_result: search_orders, path: '$..a..b..c'}", "descends"),
        ("{from_result: search_orders, path: '$[?match(@.a, ''x'')]'}", "holds a pattern"),
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


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        ([], "search_orders was never called"),
        ([call("search_orders", ok=False, value={"id": "A-1"})], "no result of search_orders was there yet"),
        ([call("search_orders", ok=True, value=Unknown("not recorded"))], "is not known: not recorded"),
        ([call("search_orders", ok=True, value=[])], "returned were: nothing"),
        ([call("search_orders", ok=True, value={"id": "A-1"}, turn=1)], "no result of search_orders was there yet"),
    ],
)
def test_where_a_value_came_from_is_told(earlier: list[Planned], said: str) -> None:
    given = run(*earlier, call("book", {"x": "A-1"}, turn=earlier[0].turn if earlier else None))
    layer = verdict("{args: {book: {x: {from_result: search_orders}}}}", given).layers["arguments"]
    assert (layer.status, said in layer.explanation) == ("fail", True), layer.explanation


def test_a_result_in_json_text_is_read() -> None:
    given = run(call("search_orders", ok=True, value='{"id": "A-1"}'), call("book", {"x": "A-1"}))
    expect = "{args: {book: {x: {from_result: search_orders, path: $.id}}}}"
    assert verdict(expect, given).layers["arguments"].status == "pass"


def test_a_relative_date_needs_the_day_of_the_run() -> None:
    layer = verdict("{args: {book: {x: {date: tomorrow}}}}", run(call("book", {"x": "2026-10-31"}))).layers["arguments"]
    assert "the run has no start time" in layer.explanation


def test_an_amount_of_money_is_read_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    given = run(call("book", {"x": "EUR 1,079.90"}))
    assert verdict('{args: {book: {x: {money: "1079.90 EUR"}}}}', given).layers["arguments"].status == "pass"
    assert capfd.readouterr().err == ""


def test_a_missing_library_is_an_error_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("otel_toolselect.rules.extras.find_spec", lambda name: None)
    for written in ("{date: tomorrow}", "{datetime: tomorrow}", "{phone: '+49301234567'}", "{money: 5}"):
        found = problems_in(f"{{args: {{book: {{x: {written}}}}}}}")
        assert len(found) == 1
        assert "pip install otel-toolselect[values]" in found[0]
