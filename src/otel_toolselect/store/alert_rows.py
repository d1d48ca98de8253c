"""The part of the store that keeps what a monitor remembers (sql/0008; contract in `alert_api`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Matcher, Observed, Query, Series, Silence, Window
from otel_toolselect.store import alert_queries, queries
from otel_toolselect.store import columns as c
from otel_toolselect.store.alert_api import AlertRecord, Outcome, Sending, Sighting, Touched
from otel_toolselect.store.queries import SPANS, Tables
from otel_toolselect.store.session import Session
from otel_toolselect.store.signal_figures import FIGURES, MIXES

KEYS_PER_QUERY = 64
SETTLE_MS = 2_000
"""On a server two may ask at once and each see itself alone; who asked last is not believed before this has passed."""
_HOUR_NS = 3_600 * 10**9
_SENDING = ("Key", "Receiver", "Outcome", "Alert", "Kind", "AtNs", "SettledNs", "Record", "Says", "Attempts", "Error")


class AlertRows:
    """Implements `alert_api.Alerts`. `alone`: every statement goes through the one engine, in turn."""

    def __init__(self, session: Session, tables: Tables, next_version: Callable[[str], int], *, alone: bool) -> None:
        self._session = session
        self._tables = tables
        self._next_version = next_version
        self._settle_ms = 0 if alone else SETTLE_MS
        self._floor = 0

    def records(self) -> tuple[AlertRecord, ...]:
        if not self._tables.has("alerts"):
            return ()
        newest = self._session.select(queries.newest_version("alerts")).get("Version", [])
        self._floor = newest[0] if newest else 0
        found = self._session.select(alert_queries.RECORDS)
        names = ("Alert", "Series", "Record", "State", "SinceNs", "ThroughNs", "Says")
        return tuple(AlertRecord(*row) for row in zip(*(found.get(name, ()) for name in names), strict=True))

    def write_records(self, records: Sequence[AlertRecord]) -> None:
        if not records:
            return
        self._floor = max(self._floor + 1, self._next_version("alerts"))
        texts = {"Alert": "alert", "Series": "series", "State": "state", "Says": "says", "Record": "record"}
        rows: dict[str, Any] = {
            name: c.column([getattr(r, key) for r in records], c.TEXT) for name, key in texts.items()
        }
        rows["Since"] = c.column([r.since_ns for r in records], c.TIME)
        rows["Through"] = c.column([r.through_ns for r in records], c.TIME)
        rows["Version"] = c.column([self._floor] * len(records), c.UINT64)
        self._session.insert("alerts", rows)

    def silences(self) -> tuple[Silence, ...]:
        if not self._tables.has("silences"):
            return ()
        found = self._session.select(alert_queries.SILENCES)
        names = ("Id", "Matchers", "FromNs", "UntilNs", "Author", "Comment")
        rows = zip(*(found.get(name, ()) for name in names), strict=True)
        return tuple(
            Silence(name, tuple(Matcher(**one) for one in json.loads(matchers)), *rest)
            for name, matchers, *rest in rows
        )

    def write_silence(self, silence: Silence) -> None:
        matchers = json.dumps([asdict(m) for m in silence.matchers], ensure_ascii=False)
        texts = {"Id": silence.id, "Author": silence.by, "Comment": silence.comment, "Matchers": matchers}
        numbers = {
            "FromNs": silence.from_ns, "UntilNs": silence.until_ns, "Version": self._next_version("silences"),
        }  # fmt: skip
        row = {name: c.column([text], c.TEXT) for name, text in texts.items()}
        self._session.insert("silences", row | {name: c.column([n], c.UINT64) for name, n in numbers.items()})

    def add_sendings(self, sendings: Iterable[Sending]) -> None:
        rows = list(sendings)
        if not rows:
            return
        texts = {
            "Key": "key", "Receiver": "receiver", "Outcome": "outcome", "Alert": "alert", "Kind": "kind",
            "Record": "record", "Says": "says", "Error": "error",
        }  # fmt: skip
        columns: dict[str, Any] = {
            name: c.column([getattr(s, key) for s in rows], c.TEXT) for name, key in texts.items()
        }
        columns |= {
            "At": c.column([s.at_ns for s in rows], c.TIME),
            "AtNs": c.column([s.at_ns for s in rows], c.UINT64),
            "SettledNs": c.column([s.settled_ns for s in rows], c.UINT64),
            "Attempts": c.column([s.attempts for s in rows], c.UINT32),
            "Version": c.column([self._next_version("notifications")] * len(rows), c.UINT64),
        }
        self._session.insert("notifications", columns)

    def sendings(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        alert: str | None = None,
        outcome: Outcome | None = None,
        limit: int = 1000,
    ) -> tuple[Sending, ...]:
        if not self._tables.has("notifications"):
            return ()
        wanted = {"since": since_ns, "until": until_ns, "alert": alert, "outcome": outcome}
        select = alert_queries.sendings(wanted, limit)
        found = self._session.select(select.sql, select.params)
        return tuple(Sending(*row) for row in zip(*(found.get(name, ()) for name in _SENDING), strict=True))

    def settled(self, keys: Collection[str]) -> frozenset[tuple[str, str]]:
        listed, found = sorted(keys), set[tuple[str, str]]()
        for start in range(0, len(listed), KEYS_PER_QUERY):
            params = {"keys": listed[start : start + KEYS_PER_QUERY]}
            rows = self._session.select(alert_queries.SETTLED, params)
            found.update(zip(rows.get("Key", ()), rows.get("Receiver", ()), strict=True))
        return frozenset(found)

    def claim(self, name: str, owner: str, seconds: float) -> bool:
        asked = {"name": name, "owner": owner, "ms": round(seconds * 1000)}
        self._session.execute(alert_queries.CLAIM, asked)
        found = self._session.select(alert_queries.HOLDER, {"name": name})
        holder, held = found.get("Owner", []), found.get("HeldMs", [])
        return bool(holder) and holder[0] == owner and held[0] >= self._settle_ms

    def release(self, name: str, owner: str) -> None:
        self._session.execute(alert_queries.RELEASE, {"name": name, "owner": owner})

    def touched(self, after_version: int | None, *, since_ns: int) -> Touched:
        if after_version is None:
            newest = self._session.select(alert_queries.NEWEST_JUDGEMENT).get("Newest", [])
            return Touched((), newest[0] if newest else 0)
        params = {"after": after_version, "since": max(0, since_ns)}
        found = self._session.select(alert_queries.TOUCHED, params)
        rows = zip(*(found.get(name, ()) for name in ("Filed", "First", "Last", "Withdrawn")), strict=True)
        spans = []
        for filed, first, last, withdrawn in rows:
            hour = filed * 10**9
            spans.append((hour, hour + _HOUR_NS) if withdrawn else (first, last + 1))
        return Touched(tuple(spans), max(found.get("Newest", ()), default=after_version))

    def sightings(self, query: Query, *, since_ns: int, until_ns: int) -> dict[Series, tuple[Sighting, ...]]:
        facts = FIGURES[query.signal].facts if query.signal in FIGURES else MIXES[query.signal][2]
        select = alert_queries.sightings(query, facts=facts, since_ns=since_ns, until_ns=until_ns)
        rows = self._session.select(select.sql, select.params)
        by = [name for name in query.by if name != "tool"]
        found: dict[Series, list[Sighting]] = {}
        for i in range(len(rows.get("First", ()))):
            series = tuple((name, str(rows[f"B{k}"][i])) for k, name in enumerate(by))
            values = [rows[name][i] for name in ("Model", "PromptVersion", "CatalogId", "Label", "First", "N")]
            found.setdefault(series, []).append(Sighting(*values))
        return {series: tuple(sighted) for series, sighted in found.items()}

    def lag(self, query: Query, windows: Sequence[Window]) -> dict[Series, tuple[Observed, ...]]:
        _only_services(query)
        found: dict[Series, dict[int, Observed]] = {} if query.by else {(): {}}
        if windows and self._tables.has(SPANS, "ReceivedAt"):
            select = alert_queries.lag(query, windows)
            rows = self._session.select(select.sql, select.params)
            for i, number in enumerate(rows.get("W", ())):
                window, values = windows[number - 1], [str(rows[f"B{k}"][i]) for k in range(len(query.by))]
                series = tuple(zip(query.by, values, strict=True))
                seen = Observed(window.start_ns, window.end_ns, float(rows["Value"][i]), int(rows["N"][i]))
                found.setdefault(series, {})[number - 1] = seen
        empty = [Observed(w.start_ns, w.end_ns, None, 0) for w in windows]
        return {
            series: tuple(by_window.get(i, nothing) for i, nothing in enumerate(empty))
            for series, by_window in found.items()
        }


def _only_services(query: Query) -> None:
    of = query.of
    limits = [of.suite, of.policy, of.tool, of.agent, of.model, of.prompt, of.catalog, of.tenant, of.origin, of.pair]
    if any(limits) or set(query.by) - {"service"}:
        raise InputError(
            "ingest_lag_p95 is of spans: it can be limited to services or split by them, and by nothing else"
        )
