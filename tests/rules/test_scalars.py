"""Unquoted scalars keep their text unless they are JSON as JSON writes it (bug kind: YAML turns words into types)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.model.values import canonical, json_equal
from otel_toolselect.rules._nodes import plain_value
from tests.builders import call, run
from tests.rules.suites import verdict


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-2", -2), ("0", 0), ("79.9", 79.9), ("1.0", 1.0), ("true", True), ("false", False), ("null", None),
        ("~", None), ("", None), ("123456789012345678901234567890", 123456789012345678901234567890),
        *((t, t) for t in ("NO", "no", "yes", "on", "True", "NULL", "00501", "12:30", "1.10", "79.90", "2026-11-03",
                           "0x1F", "0o17", "1e3", "+5", "-", "1_000", ".5", "5.", "inf", "-inf", "nan", "١", "1e999")),
    ],
)  # fmt: skip
def test_plain_value(text: str, value: Any) -> None:
    found = plain_value(text)
    assert (type(found), found) == (type(value), value)


@given(st.text(max_size=30))
def test_a_scalar_is_its_text_or_json_of_the_same_text(text: str) -> None:
    value = plain_value(text)
    assert value == text or text in ("~", "") or canonical(value) == text or float(text) == value


@pytest.mark.parametrize("written", ["{v: NO}", "[1.10, {v: NO}]", "{w: {any: true}, v: NO}"])
def test_nested_values_keep_their_text_too(written: str) -> None:
    value: Any = {"{v: NO}": {"v": "NO"}, "[1.10, {v: NO}]": ["1.10", {"v": "NO"}]}.get(written, {"w": 1, "v": "NO"})
    found = verdict(f"{{args: {{book: {{x: {written}}}}}}}", run(call("book", {"x": value})))
    assert found.layers["arguments"].status == "pass"


@pytest.mark.parametrize(
    ("written", "observed", "wrong"),
    [
        ("country: NO", {"country": "NO"}, {"country": False}),
        ("zip: 00501", {"zip": "00501"}, {"zip": 501}),
        ("slot: 12:30", {"slot": "12:30"}, {"slot": 750}),
        ("version: 1.10", {"version": "1.10"}, {"version": 1.1}),
        ("day: 2026-11-03", {"day": "2026-11-03"}, {"day": 2012}),
        ('name: "Caf\\u00e9 Lune"', {"name": "Café Lune"}, {"name": "Cafe\u0301 Lune"}),
        ('name: {text: "Caf\\u00e9 Lune", unicode: NFC}', {"name": "Cafe\u0301 Lune"}, {"name": "Cafe Lune"}),
        ("city: Paris", {"city": "Paris"}, {"city": "PARIS"}),
        ("city: {text: Paris, ignore_case: true}", {"city": "PARIS"}, {"city": "Paris!"}),
    ],
)
def test_bug_29_what_authors_write_without_quotes(written: str, observed: Any, wrong: Any) -> None:
    expect = f"{{args: {{book: {{{written}}}}}}}"
    assert verdict(expect, run(call("book", observed))).layers["arguments"].status == "pass"
    assert verdict(expect, run(call("book", wrong))).layers["arguments"].status == "fail"
    assert json_equal(observed, observed)
