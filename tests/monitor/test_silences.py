"""Silences hold back messages, not states; what they held back is told when it still matters (issue F)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.model.alerting import (
    UNIT_NS,
    Alert,
    AlertState,
    Limit,
    Matcher,
    Observed,
    Silence,
    Span,
    WindowSpec,
)
from otel_toolselect.monitor.alerts import acknowledged, evaluate, read_state, retire, state_text
from otel_toolselect.monitor.alerts.silences import fits, labels_of, silenced

M = UNIT_NS["m"]
ALERT = Alert(
    "wrong",
    "wrong_tool",
    WindowSpec(Span(5, "m"), Span(5, "m")),
    Limit("above", 0.1),
    no_data_after_ns=10 * M,
    owner="agents-team",
    labels={"team": "payments"},
)
PAIRS = {"g": (1, 20), "b": (3, 20), "-": (0, 0)}


def silence(begins: int, ends: int, *matchers: Matcher, name: str = "s") -> Silence:
    return Silence(name, matchers or (Matcher("alert", equals="wrong"),), begins * 5 * M, ends * 5 * M, "ann")


def story(course: str, *silences: Silence) -> list[str]:
    """What is told at the end of each window: the kind, or (kind) where it is held back."""
    state: AlertState | None = None
    found, sent = [], []
    for i, letter in enumerate(course):
        numerator, n = PAIRS[letter]
        seen = Observed(i * 5 * M, (i + 1) * 5 * M, numerator / n if n else None, n, numerator)
        state, news = evaluate(ALERT, state, [seen], (i + 1) * 5 * M, silences)
        found.append(" ".join(f"({x.kind})" if x.silenced_by else x.kind for x in news))
        sent += [x.key for x in state.outbox]
        assert [x.key for x in state.outbox] == [x.key for x in news if not x.silenced_by]
        state = read_state(state_text(acknowledged(state, {x.key for x in state.outbox})))
    assert len(sent) == len(set(sent))
    return found


@pytest.mark.parametrize(
    ("course", "begins", "ends", "expected"),
    [
        ("gbbg", 0, 9, ["", "(fire)", "", "(resolve)"]),
        # it fires still when the silence ends: told then
        ("gbbbg", 0, 4, ["", "(fire)", "", "fire", "resolve"]),
        # the silence ends at the very moment at which the alert recovers: nobody heard of it, nobody hears of its end
        ("gbbg", 0, 4, ["", "(fire)", "", "(resolve)"]),
        # fired before, recovered under the silence: the end is told when the silence ends
        ("bggg", 2, 4, ["fire", "(resolve)", "", "resolve"]),
        # recovered and fired again under the silence: receivers believe it fires, and so it does
        ("bgbbg", 2, 4, ["fire", "(resolve)", "(fire)", "", "resolve"]),
        # fired, recovered, fired again, all unheard: one message, the latest
        ("bgbb", 0, 4, ["(fire)", "(resolve)", "(fire)", "fire"]),
        # a gap is told on its own track
        ("g---g", 3, 4, ["", "", "(no_data)", "no_data", "data_back"]),
        # ... beside the other
        ("b---g", 0, 4, ["(fire)", "", "(no_data)", "fire no_data", "data_back resolve"]),
        ("g---gg", 3, 5, ["", "", "(no_data)", "", "(data_back)", ""]),
    ],
)
def test_courses(course: str, begins: int, ends: int, expected: list[str]) -> None:
    assert story(course, silence(begins, ends)) == expected


def test_of_two_silences_the_second_goes_on_holding_back() -> None:
    assert story("bbbb", silence(0, 2), silence(2, 4, name="t")) == ["(fire)", "", "", "fire"]


def test_a_message_that_was_due_before_the_silence_is_sent() -> None:
    seen = Observed(0, 5 * M, 0.15, 20, 3)
    state, _ = evaluate(ALERT, None, [seen], 5 * M)
    state, news = evaluate(ALERT, state, [], 10 * M, [silence(2, 4)])
    assert ([n.kind for n in state.outbox], news) == (["fire"], ())


def test_a_silence_that_is_taken_back_lets_go() -> None:
    seen = Observed(0, 5 * M, 0.15, 20, 3)
    state, (held,) = evaluate(ALERT, None, [seen], 5 * M, [silence(0, 9)])
    assert (held.silenced_by, state.outbox) == ("s", ())
    state, (fire,) = evaluate(ALERT, state, [], 6 * M)
    assert (fire.key, fire.silenced_by, state.outbox) == (held.key, None, (fire,))


def test_an_alert_that_leaves_under_a_silence_is_closed_when_it_ends() -> None:
    state, _ = evaluate(ALERT, None, [Observed(0, 5 * M, 0.15, 20, 3)], 5 * M)
    state = acknowledged(state, {n.key for n in state.outbox})
    state, (held,) = retire(state, 6 * M, [silence(1, 2)])
    assert (held.kind, held.silenced_by, state.outbox) == ("resolve", "s", ())
    state, (end,) = retire(state, 10 * M, [silence(1, 2)])
    assert (end.key, state.outbox) == (held.key, (end,))
    assert retire(state, 11 * M)[1] == ()


@pytest.mark.parametrize(
    ("matchers", "expected"),
    [
        ([Matcher("alert", equals="wrong")], True),
        ([Matcher("alert", equals="wro")], False),
        ([Matcher("alert", pattern="^wr")], True),
        ([Matcher("agent", pattern="bill|support")], True),
        ([Matcher("agent", equals="billing"), Matcher("team", equals="search")], False),
        ([Matcher("team", equals="payments"), Matcher("owner", equals="agents-team")], True),
        ([Matcher("nobody", equals="x")], False),
        ([Matcher("nobody", equals="")], True),
        ([Matcher("alert")], False),
        ([], False),
    ],
)
def test_matchers(matchers: list[Matcher], expected: bool) -> None:
    alert = replace(ALERT, by=("agent",))
    labels = labels_of(alert, (("agent", "billing"),))
    assert fits(Silence("s", tuple(matchers), 0, 1, "ann"), labels) is expected


def test_labels_of_its_own_never_hide_what_an_alert_is() -> None:
    alert = replace(ALERT, labels={"alert": "other", "agent": "x"}, by=("agent",))
    assert labels_of(alert, (("agent", "billing"),))["alert"] == "wrong"
    assert labels_of(alert, (("agent", "billing"),))["agent"] == "billing"


def test_a_silence_holds_from_its_begin_to_just_before_its_end() -> None:
    labels = labels_of(ALERT, ())
    found = [silenced([silence(1, 2)], labels, t * M) is not None for t in (4, 5, 9, 10)]
    assert found == [False, True, True, False]
