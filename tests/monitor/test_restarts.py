"""However the windows are dealt out and wherever it crashes, the same messages are sent (issue F: kill -9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import UNIT_NS, Alert, Limit, Notification, Observed, Span, WindowSpec
from otel_toolselect.monitor.alerts import (
    acknowledged,
    evaluate,
    notification_text,
    read_notification,
    read_state,
    state_text,
)

M = UNIT_NS["m"]
BASE = Alert(
    "wrong",
    "wrong_tool",
    WindowSpec(Span(5, "m"), Span(5, "m")),
    Limit("above", 0.1),
    min_count=10,
    no_data_after_ns=15 * M,
    annotations={"summary": "{value}"},
)
ALERTS = st.builds(
    lambda waits, keeps, gap: replace(BASE, for_ns=waits * M, keep_firing_ns=keeps * M, no_data_after_ns=gap),
    st.sampled_from([0, 5, 10]),
    st.sampled_from([0, 5, 10]),
    st.sampled_from([None, 5 * M, 15 * M]),
)
PAIRS = st.lists(st.sampled_from([(1, 20), (4, 20), (1, 1), (0, 0)]), min_size=1, max_size=25)
CRASHES = st.lists(st.sampled_from(["", "before storing", "before sending", "while sending", "before acknowledging"]))


def series(pairs: Sequence[tuple[int, int]]) -> list[Observed]:
    return [Observed(i * 5 * M, (i + 1) * 5 * M, k / n if n else None, n, k) for i, (k, n) in enumerate(pairs)]


@dataclass
class Worker:
    """What a caller does, with a store that keeps what was written and a receiver that keeps what it heard."""

    alert: Alert
    stored: str | None = None
    sent: list[Notification] = field(default_factory=list)

    def work(self, windows: Sequence[Observed], crash: str = "") -> None:
        state = read_state(self.stored) if self.stored else None
        state, _ = evaluate(self.alert, state, windows, windows[-1].end_ns if windows else 0)
        if crash == "before storing":
            return
        self.stored = state_text(state)
        if crash == "before sending":
            return
        for i, notification in enumerate(state.outbox):
            if crash == "while sending" and i:
                return
            self.sent.append(read_notification(notification_text(notification)))
        if crash == "before acknowledging":
            return
        self.stored = state_text(acknowledged(state, {n.key for n in state.outbox}))

    @property
    def keys(self) -> list[str]:
        """In the order in which they were first heard."""
        return list(dict.fromkeys(n.key for n in self.sent))


@given(ALERTS, PAIRS, st.data())
def test_any_split_with_any_crashes_sends_what_one_pass_sends(
    alert: Alert, pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    windows = series(pairs)
    once = Worker(alert)
    once.work(windows)
    worker, at = Worker(alert), 0
    while at < len(windows):
        size = data.draw(st.integers(1, 5))
        chunk = windows[at : at + size]
        for crash in data.draw(CRASHES):
            worker.work(chunk, crash)
        worker.work(chunk)
        at += size
    assert worker.keys == once.keys
    first = {n.key: n for n in reversed(worker.sent)}
    assert [first[k] for k in once.keys] == once.sent
    assert all(n == first[n.key] for n in worker.sent)  # a message that comes twice is the same message
    assert worker.stored == once.stored


@given(ALERTS, PAIRS)
def test_tracks_alternate_and_numbers_do_not_skip(alert: Alert, pairs: list[tuple[int, int]]) -> None:
    worker = Worker(alert)
    for window in series(pairs):
        worker.work([window])
    kinds = [n.kind for n in worker.sent]
    for raised, ended in (("fire", "resolve"), ("no_data", "data_back")):
        track = [kind for kind in kinds if kind in (raised, ended)]
        assert track == [raised, ended] * (len(track) // 2) + [raised] * (len(track) % 2)
    assert [n.change for n in worker.sent] == list(range(1, len(kinds) + 1))


@given(PAIRS)
def test_without_waiting_an_alert_fires_exactly_when_a_deciding_window_breaches(pairs: list[tuple[int, int]]) -> None:
    """Against an oracle in three lines: windows that decide, and their changes."""
    alert = replace(BASE, no_data_after_ns=None)
    worker = Worker(alert)
    worker.work(series(pairs))
    deciding = [(i, k / n > 0.1) for i, (k, n) in enumerate(pairs) if n >= 10]
    before = [False, *(bad for _, bad in deciding)]
    wanted = [("fire" if bad else "resolve", i) for (i, bad), was in zip(deciding, before, strict=False) if bad != was]
    assert [(n.kind, n.start_ns // (5 * M)) for n in worker.sent] == wanted


@given(ALERTS, PAIRS, st.data())
def test_windows_given_again_change_nothing(alert: Alert, pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    worker, windows = Worker(alert), series(pairs)
    worker.work(windows)
    stored, sent = worker.stored, list(worker.sent)
    worker.work(data.draw(st.lists(st.sampled_from(windows))))
    assert (worker.stored, worker.sent) == (stored, sent)


@given(ALERTS, PAIRS, st.data())
def test_corrections_survive_crashes_and_never_flap(
    alert: Alert, pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Late data may raise and may end a gap, never resolve; and never raise twice what is raised."""
    calm, shaken = Worker(alert), Worker(alert)
    windows = series(pairs)
    for i, window in enumerate(windows):
        for worker in (calm, shaken):
            worker.work([window])
        late = series(data.draw(st.lists(st.sampled_from([(1, 20), (4, 20), (20, 20)]), max_size=2)))
        known = {w.start_ns: w for w in windows[: i + 1]}
        batch = [w for w in late if w.start_ns in known]
        before = len(calm.sent)
        calm.work(batch)
        assert {n.kind for n in calm.sent[before:]} <= {"fire", "data_back"}
        assert all(n.late for n in calm.sent[before:])
        for crash in data.draw(CRASHES):
            shaken.work(batch, crash)
        shaken.work(batch)
    assert shaken.keys == calm.keys
    assert shaken.stored == calm.stored
    kinds = [n.kind for n in calm.sent if n.kind in ("fire", "resolve")]
    assert all(a != b for a, b in pairwise(kinds))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "text: Invalid JSON"),
        ("{}", "alert: Field required"),
        ('{"alert": 3}', "alert: Input should be a valid string"),
        ('{"alert": "a", "changes": "1"}', "changes: Input should be a valid integer"),
        ('{"alert": "a", "unheard": 1}', "unheard: "),
    ],
)
def test_a_record_that_is_none_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=f"alert state: no alert state: {said}"):
        read_state(text)


def test_a_refusal_does_not_repeat_what_it_read() -> None:
    with pytest.raises(InputError) as caught:
        read_notification('{"key": ["secret"]}')
    assert "secret" not in str(caught.value)
