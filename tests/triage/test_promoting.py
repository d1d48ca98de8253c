"""Drafts of test cases from a run: they load, hold no personal data, and the variant differs in particulars (R19)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import UsageError
from otel_toolselect.rules import parse_suite
from otel_toolselect.triage.promoting import generalized, promote
from otel_toolselect.triage.redaction import Redactor
from otel_toolselect.triage.selecting import one_run
from tests.builders import call, run
from tests.reports.samples import HOSTILE

SUITE = parse_suite(
    "suite: shop\npolicy: {tools: {find: {effect: read}, refund: {effect: write, risk: high}}}\ncases:\n"
    "  - {id: c1, prompt: x, risk: high, expect: {first: [find]}}\n",
    path="shop.yaml",
)


def test_both_cases_load() -> None:
    bad = run(call("refund"), request="refund A-1042, mail me at jo@corp.de", run_id="r9", tools=["find", "refund"])
    draft = promote(bad, suite=SUITE, expected=["find"], risk="high")
    made = parse_suite(draft.text, path="draft.yaml")
    first, second = made.cases
    assert first.prompt == "refund A-1042, mail me at user1@example.com"
    assert second.prompt is not None
    assert second.prompt != first.prompt
    assert second.prompt.startswith("refund A-")
    assert (first.tags, second.tags) == ({"bucket": "challenge"}, {"bucket": "core"})
    assert first.group == second.group
    assert first.tools == second.tools == ("find", "refund")
    assert [s.label for s in first.expect.first] == ["find"]
    assert first.expect.forbidden
    assert made.policy.tools["refund"].risk == "high"
    assert "redacted: 1 x e-mail" in draft.notes
    assert promote(bad, suite=SUITE, expected=["find"], risk="high") == draft


def test_expectation_of_the_case_is_taken() -> None:
    made = parse_suite(promote(run(call("refund"), request="x 1", case_id="c1"), suite=SUITE).text, path="d")
    assert [s.label for s in made.cases[0].expect.first] == ["find"]
    assert made.cases[0].risk == "high"


@pytest.mark.parametrize(
    ("label", "decision"), [("none", "none"), ("ask_followup", "clarify"), ("refuse_no_tool", "refuse")]
)
def test_no_call_labels(label: str, decision: str) -> None:
    made = parse_suite(promote(run(call("refund"), request="x"), expected=[label]).text, path="d")
    assert made.cases[0].expect.decision == decision


def test_what_cannot_be_drafted_is_said() -> None:
    with pytest.raises(UsageError, match=r"--first NAME \(offered: find"):
        promote(run(call("refund"), request="x", tools=["find"]))
    with pytest.raises(UsageError, match="doctor"):
        promote(run(call("refund")), expected=["find"])
    notes = promote(run(request="hello", history=("a", "b")), expected=["find"]).notes
    assert any("2 things before" in note for note in notes)
    assert any("no catalog" in note for note in notes)
    assert any("reword" in note for note in notes)
    made = parse_suite(promote(run(request="hello"), expected=["find"]).text, path="d")
    assert len({case.prompt for case in made.cases}) == 2


@pytest.mark.parametrize("text", [HOSTILE, "a: b\n- c # d", "---", "'\"", "\u2028", "no", "1.10"])
def test_any_request_loads(text: str) -> None:
    draft = promote(run(call(text), request=text, tools=[text], agent=text), expected=["find"])
    made = parse_suite(draft.text, path="d")
    assert made.cases[0].id.startswith("promoted-")


def test_a_tool_that_was_not_offered_is_not_pinned() -> None:
    draft = promote(run(call("refund"), request="x", tools=["refund"]), expected=["find"])
    assert parse_suite(draft.text, path="d").cases[0].tools is None
    assert any("find was not on offer" in note for note in draft.notes)


@given(st.text(min_size=1, max_size=60).filter(str.strip))
def test_every_text_loads(text: str) -> None:
    parse_suite(promote(run(call("find"), request=text), expected=["find"]).text, path="d")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("jo.doe+x@mail.corp.co.uk", "e-mail"),
        ("+49 170 1234567", "telephone"),
        ("(call 0170/123 45 67)", "telephone"),
        ("4111-1111-1111-1111", "card"),
        ("DE89 3704 0044 0532 0130 00", "IBAN"),
        ("10.1.2.3", "IP address"),
        ("https://u:p@host.example/x", "web address"),
        ("https://host.example/reset?token=abc", "web address"),
        ("sk_live_51H8abcdefghijklmnop", "token"),
    ],
)
def test_redacted(text: str, kind: str) -> None:
    redactor = Redactor()
    cleaned = redactor.clean(f"see {text}, and {text} again")
    assert dict(redactor.counts) == {kind: 1}
    assert text.strip("()") not in cleaned


@pytest.mark.parametrize(
    "text", ["A-1042", "order 12345", "79.90 EUR", "on 2026-01-31", "1234567890123456", "12:30", "v1.2.3"]
)
def test_kept(text: str) -> None:
    assert Redactor().clean(text) == text


def test_variant_changes_particulars_only() -> None:
    text = "Refund A-1042 and A-1042, 79.90 please, room 007"
    got = generalized(text)
    assert got == generalized(text)
    assert [word for word in got.split() if not any(c.isdigit() for c in word)] == ["Refund", "and", "please,", "room"]
    assert len(got) == len(text)
    first, second = (word.strip(",") for word in got.split() if word.startswith("A-"))
    assert first == second != "A-1042"
    assert got.endswith(" 00" + got[-1])
    assert generalized("since 2026-01-31") == "since 2026-01-31"


def test_one_run() -> None:
    nested = run(run_id="c", trace_id="t2", parent_run_id="ab2")
    runs = [run(run_id="ab1", trace_id="t1"), run(run_id="ab2", trace_id="t2"), nested]
    assert one_run(runs, "ab1").run_id == "ab1"
    assert one_run(runs, "t2").run_id == "ab2"
    for wrong in ("ab", "zz", ""):
        with pytest.raises(UsageError):
            one_run(runs, wrong)
