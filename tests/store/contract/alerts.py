"""What every store must do for a monitor (`store/alert_api.py`); part of the one suite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Matcher, Query, Scope, Silence, Window
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.alert_api import AlertRecord, Sending, Sighting
from tests.store.builders import DAY, HOUR, T0, decision, run, span

RECORD = AlertRecord("wrong", '{"agent": "a"}', '{"x": "grün\\u0000"}', "firing", T0, T0 + HOUR, "too many")
SENT = Sending("k#1", "hook", "delivered", "wrong", "fire", T0, T0 + 5, "{}", "too many", 2)


class AlertsContract:
    def test_a_store_without_alerts_has_none(self, store: Store) -> None:
        assert store.alerts.records() == ()
        assert store.alerts.silences() == ()
        assert store.alerts.sendings() == ()
        assert store.alerts.settled(["k"]) == frozenset()

    def test_the_last_state_of_a_series_counts(self, store: Store, dsn: str) -> None:
        other = replace(RECORD, series="{}")
        store.alerts.write_records([RECORD, other])
        store.alerts.write_records([])
        again = open_store(dsn)
        try:
            assert again.alerts.records() == (RECORD, other)
            mended = replace(RECORD, record="{}", state="resolved")
            again.alerts.write_records([mended])
            assert store.alerts.records() == (mended, other)
        finally:
            again.close()

    def test_who_read_the_states_writes_above_them_whatever_its_clock_says(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.alerts.write_records([RECORD])
        store.alerts.records()
        monkeypatch.setattr("time.time_ns", lambda: T0 - DAY)
        for state in ("pending", "resolved"):
            store.alerts.write_records([replace(RECORD, state=state)])
            assert [r.state for r in store.alerts.records()] == [state]

    def test_silences_round_trip_and_replace(self, store: Store) -> None:
        silence = Silence("s2", (Matcher("tool", equals="a'b"), Matcher("alert", pattern="^x")), 1, 2**63, "ann", "ü")
        store.alerts.write_silence(silence)
        store.alerts.write_silence(replace(silence, id="s1"))
        store.alerts.write_silence(replace(silence, until_ns=7))
        assert store.alerts.silences() == (replace(silence, id="s1"), replace(silence, until_ns=7))

    def test_sendings_newest_first_each_receiver_once(self, store: Store) -> None:
        later = replace(SENT, key="k#2", at_ns=T0 + 1, receiver="", outcome="silenced")
        dead = replace(SENT, receiver="mail", outcome="dead", error="refused")
        store.alerts.add_sendings([SENT, later, dead])
        store.alerts.add_sendings([SENT])
        assert store.alerts.sendings() == (later, SENT, dead)
        assert store.alerts.sendings(since_ns=T0 + 1) == (later,)
        assert store.alerts.sendings(until_ns=T0 + 1, outcome="dead") == (dead,)
        assert store.alerts.sendings(alert="other") == ()
        assert store.alerts.sendings(limit=1) == (later,)
        assert store.alerts.settled(["k#1", "k#2"]) == {("k#1", "hook"), ("k#1", "mail")}

    def test_one_of_several_holds_a_lease(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store.alerts, "_settle_ms", 0)  # statements of a test come one after the other
        assert store.alerts.claim("watch", "a", 600)
        assert not store.alerts.claim("watch", "b", 600)
        assert store.alerts.claim("watch", "a", 600)
        assert store.alerts.claim("other", "b", 600)
        store.alerts.release("watch", "a")
        assert store.alerts.claim("watch", "b", 600)
        assert not store.alerts.claim("watch", "a", 600)
        # a lease that has run out by the store's clock: its owner begins anew, behind the other
        store.alerts.claim("watch", "b", 0)
        assert store.alerts.claim("watch", "a", 600)
        assert not store.alerts.claim("watch", "b", 600)

    def test_who_asked_last_is_not_believed_at_once_on_a_server(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(store.alerts, "_settle_ms", 3_600_000)
        assert not store.alerts.claim("watch", "a", 600)

    def test_what_late_decisions_touched(self, store: Store) -> None:
        nothing = store.alerts.touched(None, since_ns=0)
        store.add_judged([], [decision("r1"), decision("r2", start_ns=T0 + 7)])
        first = store.alerts.touched(nothing.version, since_ns=0)
        assert first.spans == ((T0, T0 + 8),)
        assert store.alerts.touched(first.version, since_ns=0) == type(first)((), first.version)
        store.add_judged([], [decision("r3", start_ns=T0 + HOUR)])
        store.replace_judged(["s"], [run("r1", start_ns=T0)], [], [])
        assert store.alerts.touched(first.version, since_ns=0).spans == ((T0, T0 + HOUR), (T0 + HOUR, T0 + HOUR + 1))
        assert store.alerts.touched(first.version, since_ns=T0 + HOUR).spans == ((T0 + HOUR, T0 + HOUR + 1),)

    def test_sightings_by_series(self, store: Store) -> None:
        seen = [("a", "m1", 0), ("a", "m2", 9), ("a", "m1", 20), ("b", "m1", 5), ("c", "m9", HOUR)]
        rows = [decision(f"r{i}", agent=agent, model=m, start_ns=T0 + at) for i, (agent, m, at) in enumerate(seen)]
        store.add_judged([], [*rows, decision("x", suite="")])
        query = Query("recall", Scope(suite=("s",)), by=("agent", "tool"))
        found = store.alerts.sightings(query, since_ns=T0, until_ns=T0 + HOUR)
        one = Sighting("m1", *_identity(rows[0])[1:], T0, 2)
        assert found == {
            (("agent", "a"),): (one, replace(one, model="m2", first_ns=T0 + 9, n=1)),
            (("agent", "b"),): (replace(one, first_ns=T0 + 5, n=1),),
        }

    def test_lag_is_from_the_end_of_a_span_to_its_being_stored(self, store: Store) -> None:
        store.insert([span(1, 1, start_ns=T0, end_ns=T0 + HOUR)], [])
        windows = [Window(0, T0), Window(T0, T0 + 100 * 366 * DAY)]
        found = store.alerts.lag(Query("ingest_lag_p95", by=("service",)), windows)
        (series, (before, after)), *others = found.items()
        assert (series, others) == ((("service", "shop"),), [])
        assert (before.value, before.n, after.n) == (None, 0, 1)
        assert after.value is not None
        assert after.value >= 0
        other = Query("ingest_lag_p95", Scope(service=("other",)))
        assert [o.n for o in store.alerts.lag(other, windows)[()]] == [0, 0]
        with pytest.raises(InputError, match="services"):
            store.alerts.lag(Query("ingest_lag_p95", by=("agent",)), windows)


def _identity(row: object) -> tuple[str, str, str, str]:
    return tuple(getattr(row, name) or "" for name in ("model", "prompt_version", "catalog_id", "label"))  # type: ignore[return-value]
