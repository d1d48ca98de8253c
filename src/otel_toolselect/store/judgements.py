"""The part of the store that keeps what was judged: decisions, what became of them, and bookmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.store import arrivals, decision_rows, judgement_queries, queries
from otel_toolselect.store import columns as c
from otel_toolselect.store.arrival_api import Cursor
from otel_toolselect.store.judged_api import Judged, Kept
from otel_toolselect.store.queries import Tables
from otel_toolselect.store.session import Session

ROWS_PER_PAGE = 5_000
ROWS_PER_INSERT = 20_000
IDS_PER_QUERY = 500  # bound into the request's address: 20 KB of it
Key = tuple[str, int, str, str]
"""Suite, hour (epoch seconds), run id, rule."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Keys of what is said of some runs: decisions, and verdicts (suite, run id)."""

    decisions: frozenset[Key] | set[Key] = frozenset()
    verdicts: frozenset[tuple[str, str]] | set[tuple[str, str]] = frozenset()


class Judgements:
    """Decisions by key and version; see sql/0007 for what a row is. `next_version` gives versions by table."""

    def __init__(self, session: Session, tables: Tables, next_version: Callable[[str], int]) -> None:
        self._session = session
        self._tables = tables
        self._next_version = next_version

    def add(self, decisions: Iterable[Decision], as_of: int | None = None) -> None:
        source = iter(decisions)
        while part := list(islice(source, ROWS_PER_INSERT)):
            version = self._version("judgements", as_of)
            self._session.insert("judgements", decision_rows.decision_columns(part, version))

    def _version(self, table: str, as_of: int | None) -> int:
        return self._next_version(table) if as_of is None else as_of

    def standing(self, suites: Sequence[str], starts: Mapping[str, int]) -> Standing:
        """What is said of these runs (id -> start in ns) under these suites."""
        if not starts or not suites:
            return Standing()
        hours = [decision_rows.hour_of(start) for start in starts.values()]
        spread = judgement_queries.MOVES_AT_MOST_S
        ids = sorted(starts)
        return Standing(
            self._keys(suites, ids, min(hours) - spread, max(hours) + spread), self._verdict_keys(suites, ids)
        )

    def mark_gone(
        self,
        before: Standing,
        verdicts: Iterable[RunVerdict],
        decisions: Iterable[Decision],
        as_of: int | None = None,
    ) -> None:
        """What stood before and is not among these."""
        now = {(d.suite, decision_rows.hour_of(d.start_ns), d.run_id, d.rule) for d in decisions}
        self._mark_decisions(sorted(before.decisions - now), as_of)
        self._mark_verdicts(sorted(before.verdicts - {(v.suite, v.run_id) for v in verdicts}), as_of)

    def _keys(self, suites: Sequence[str], run_ids: Sequence[str], first: int, last: int) -> set[Key]:
        found: set[Key] = set()
        for ids in _parts(run_ids):
            select = judgement_queries.standing(suites, ids, max(first, 0), last)
            rows = self._session.select(select.sql, select.params)
            names = ("Suite", "FiledUnder", "RunId", "Rule")
            found.update(zip(*(rows.get(name, ()) for name in names), strict=True))
        return found

    def _verdict_keys(self, suites: Sequence[str], run_ids: Sequence[str]) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for ids in _parts(run_ids):
            select = judgement_queries.verdict_keys(suites, ids)
            rows = self._session.select(select.sql, select.params)
            found.update(zip(rows.get("Suite", ()), rows.get("RunId", ()), strict=True))
        return found

    def read(self, suite: str | None, since_ns: int | None, until_ns: int | None) -> Iterator[Decision]:
        if not self._tables.has("judgements"):
            return
        wanted = {"suite": suite, "since": since_ns, "until": until_ns}
        after: Key | None = None
        while True:
            select = judgement_queries.page(decision_rows.READ_COLUMNS, wanted, after, ROWS_PER_PAGE)
            found = self._session.select(select.sql, select.params)
            filed = found.pop("FiledUnder", [])
            yield from decision_rows.read_decisions(found)
            if len(filed) < ROWS_PER_PAGE:
                return
            after = (found["Suite"][-1], filed[-1], found["RunId"][-1], found["Rule"][-1])

    def since(self, cursor: Cursor, limit: int, tenant: str | None = None) -> Judged:
        """See `Store.judged_since`."""
        if not self._tables.has("judgements"):
            return Judged((), cursor)
        now = self._session.select(queries.NOW)["Now"][0]  # first: see `arrivals`
        listed = len(cursor.seen) + arrivals.PLACES_PER_PAGE * 10
        select = judgement_queries.versions(cursor.settled_ns, listed, tenant)
        found = self._session.select(select.sql, select.params)
        places = list(zip(found.get("At", ()), found.get("Rows", ()), strict=True))
        overlap = now - arrivals.OVERLAP_S * 10**9
        chosen, after, more = arrivals.advanced(cursor, places, len(places) == listed, limit, overlap)
        if not chosen:
            return Judged((), after, more)
        select = judgement_queries.of_versions(decision_rows.READ_COLUMNS, chosen, tenant)
        rows = self._session.select(select.sql, select.params)
        versions = rows.pop("Kept", [])
        kept = map(Kept, decision_rows.read_decisions(rows), versions)
        return Judged(tuple(kept), after, more)

    def runs_of_traces(self, trace_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        runs: dict[str, list[str]] = {}
        for ids in _parts(sorted(set(trace_ids))):
            select = judgement_queries.run_ids_of(ids)
            found = self._session.select(select.sql, select.params)
            for run_id, traces in zip(found.get("RunId", ()), found.get("Traces", ()), strict=True):
                for trace_id in traces:
                    runs.setdefault(trace_id, []).append(run_id)
        return {trace_id: tuple(ids) for trace_id, ids in runs.items()}

    def retract(self, run_ids: Sequence[str], as_of: int | None = None) -> None:
        """Runs, verdicts and decisions: the run last, so that a retraction that was cut off can be done again."""
        for ids in _parts(sorted(set(run_ids))):
            select = judgement_queries.starts(ids)
            found = self._session.select(select.sql, select.params)
            starts = dict(zip(found.get("RunId", ()), found.get("StartNs", ()), strict=True))
            if not starts:
                continue
            suites = self._session.select(judgement_queries.SUITES).get("Suite", [])
            hours = sorted(decision_rows.hour_of(start) for start in starts.values())
            self._mark_decisions(sorted(self._keys(suites, list(starts), hours[0], hours[-1])), as_of)
            self._mark_verdicts(sorted(self._verdict_keys(suites, list(starts))), as_of)
            self._mark("runs", {"RunId": list(starts)}, as_of)

    def _mark_decisions(self, keys: Sequence[Key], as_of: int | None) -> None:
        if keys:
            version = self._version("judgements", as_of)
            self._session.insert("judgements", decision_rows.gone_columns(keys, version))

    def _mark_verdicts(self, keys: Sequence[tuple[str, str]], as_of: int | None) -> None:
        if keys:
            self._mark("verdicts", {"Suite": [k[0] for k in keys], "RunId": [k[1] for k in keys]}, as_of)

    def _mark(self, table: str, keys: dict[str, list[str]], as_of: int | None) -> None:
        count = len(keys["RunId"])
        marks = {name: c.column(values, c.TEXT) for name, values in keys.items()}
        marks["Version"] = c.column([self._version(table, as_of)] * count, c.UINT64)
        marks["Gone"] = c.column([1] * count, c.UINT8)
        self._session.insert(table, marks)

    def bookmark(self, name: str) -> str | None:
        if not self._tables.has("bookmarks"):
            return None
        found = self._session.select(judgement_queries.BOOKMARK, {"name": name}).get("Place", [])
        return found[0] if found else None

    def set_bookmark(self, name: str, place: str) -> None:
        version = self._next_version("bookmarks")
        row = {"Name": c.column([name], c.TEXT), "Place": c.column([place], c.TEXT)}
        self._session.insert("bookmarks", row | {"Version": c.column([version], c.UINT64)})


def _parts(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), IDS_PER_QUERY):
        yield items[start : start + IDS_PER_QUERY]
