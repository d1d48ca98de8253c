"""The part of the store that workers share by: who is there, and which traces ask for which (sql/0010)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.store import columns as c
from otel_toolselect.store import queries
from otel_toolselect.store.crew_api import TraceBonds, Worker
from otel_toolselect.store.judgements import IDS_PER_QUERY
from otel_toolselect.store.session import Session

_PRESENT = """SELECT Worker, JoinedNs, View, Place FROM workers FINAL
WHERE Crew = {crew:String} AND Gone = 0 AND At > now64(9, 'UTC') - toIntervalMillisecond({ms:UInt64})
ORDER BY Worker"""

_RUNS = "SELECT RunId, Version FROM runs FINAL WHERE Gone = 0 AND hasAny(TraceIds, {ids:Array(String)})"


class CrewRows:
    """Implements `crew_api.Crews`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def now(self) -> int:
        return int(self._session.select(queries.NOW)["Now"][0])

    def report(self, crew: str, worker: Worker) -> None:
        self._write(crew, worker, gone=0)

    def leave(self, crew: str, name: str) -> None:
        self._write(crew, Worker(name, 0), gone=1)

    def _write(self, crew: str, worker: Worker, gone: int) -> None:
        texts = {"Crew": crew, "Worker": worker.name, "View": worker.view, "Place": worker.place}
        row: dict[str, Any] = {name: c.column([text], c.TEXT) for name, text in texts.items()}
        row |= {"JoinedNs": c.column([worker.joined_ns], c.UINT64), "Gone": c.column([gone], c.UINT8)}
        self._session.insert("workers", row)

    def present(self, crew: str, within_s: float) -> tuple[Worker, ...]:
        found = self._session.select(_PRESENT, {"crew": crew, "ms": round(within_s * 1000)})
        names = ("Worker", "JoinedNs", "View", "Place")
        return tuple(Worker(*row) for row in zip(*(found.get(name, ()) for name in names), strict=True))

    def publish(self, crew: str, name: str, number: int, bonds: Sequence[TraceBonds]) -> None:
        if not bonds:
            return
        texts = {"Crew": [crew] * len(bonds), "Worker": [name] * len(bonds), "TraceId": [b.trace_id for b in bonds]}
        rows: dict[str, Any] = {key: c.column(values, c.TEXT) for key, values in texts.items()}
        rows["Number"] = c.column([number] * len(bonds), c.UINT64)
        rows["Offers"] = c.nested([b.offers for b in bonds], c.UINT64)
        rows["Wants"] = c.nested([b.wants for b in bonds], c.UINT64)
        self._session.insert("bonds", rows)

    def runs(self, trace_ids: Sequence[str]) -> dict[str, int]:
        runs: dict[str, int] = {}
        for start in range(0, len(trace_ids), IDS_PER_QUERY):
            found = self._session.select(_RUNS, {"ids": list(trace_ids[start : start + IDS_PER_QUERY])})
            runs.update(zip(found.get("RunId", ()), found.get("Version", ()), strict=True))
        return runs

    def published(self, crew: str, known: Mapping[str, int], since_ns: int) -> tuple[dict[str, int], list[TraceBonds]]:
        select, params = _told(known)
        found = self._session.select(select, params | {"crew": crew, "since": since_ns})
        numbers = dict(known)
        for worker, number in zip(found.get("Worker", ()), found.get("Number", ()), strict=True):
            numbers[worker] = max(number, numbers.get(worker, 0))
        names = ("TraceId", "Offers", "Wants")
        rows = zip(*(found.get(name, ()) for name in names), strict=True)
        return numbers, [TraceBonds(trace_id, tuple(offers), tuple(wants)) for trace_id, offers, wants in rows]


def _told(known: Mapping[str, int]) -> tuple[str, dict[str, Any]]:
    """One range of the key for each known worker, and one for the others."""
    params: dict[str, Any] = {"known": list(known)}
    ranges = ["(Worker NOT IN {known:Array(String)} AND Number > {since:UInt64})"]
    for i, (worker, number) in enumerate(known.items()):
        params |= {f"w{i}": worker, f"n{i}": number}
        ranges.append(f"(Worker = {{w{i}:String}} AND Number > {{n{i}:UInt64}})")
    sql = f"""SELECT Worker, Number, TraceId, Offers, Wants FROM bonds
WHERE Crew = {{crew:String}} AND ({" OR ".join(ranges)})
ORDER BY Worker, Number"""  # noqa: S608 - names of ours
    return sql, params
