"""The part of the store that keeps labels (sql/0009; contract in `label_api`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.labels import Drawn, Frame, Label, Source
from otel_toolselect.store import columns as c
from otel_toolselect.store import decision_rows, label_queries
from otel_toolselect.store.label_api import Sampling
from otel_toolselect.store.queries import Tables
from otel_toolselect.store.session import Session

ROWS_PER_PAGE = 5_000
IDS_PER_QUERY = 500  # bound into the request's address: 20 KB of it
FEW_IDS = 20  # beyond these, to ask whether there is any label takes a fraction of what asking for theirs takes
_TEXTS = {
    "RunId": "run_id", "Source": "source", "Labeller": "labeller", "TraceId": "trace_id", "FirstAction": "first_action",
    "Note": "note", "Stratum": "stratum",
}  # fmt: skip
_OPTIONAL = {"Agent": "agent", "Model": "model", "PromptVersion": "prompt_version", "CatalogId": "catalog_id"}
_FLAGS = {"Review": "needs review", "Ghost": "called a tool that was not offered", "Unclear": "unclear final text"}


class LabelRows:
    """Implements `label_api.Labels`."""

    def __init__(self, session: Session, tables: Tables, next_version: Callable[[str], int]) -> None:
        self._session = session
        self._tables = tables
        self._next_version = next_version

    def write(self, labels: Sequence[Label]) -> None:
        if not labels:
            return
        rows: dict[str, Any] = {
            name: c.column([getattr(label, key) for label in labels], c.TEXT) for name, key in _TEXTS.items()
        }
        for name, key in _OPTIONAL.items():
            rows[name] = c.column([getattr(label, key) or "" for label in labels], c.TEXT)
        # of two labels under one key in one call the later one counts: each row has a version of its own
        versions = [self._next_version("labels") for _ in labels]
        rows |= {
            "Version": c.column(versions, c.UINT64),
            "AtNs": c.column([label.at_ns for label in labels], c.UINT64),
            "At": c.column([label.at_ns for label in labels], c.TIME),
            "Gone": c.column([int(label.withdrawn) for label in labels], c.UINT8),
            "StartNs": c.column([label.start_ns for label in labels], c.UINT64),
            "Expected": c.nested([label.expected for label in labels], c.TEXT),
            "Chance": c.column([label.chance for label in labels], c.DOUBLE),
            "Record": c.column([_record_text(label.record) for label in labels], c.TEXT),
        }
        self._session.insert("labels", rows)

    def of_runs(self, run_ids: Sequence[str]) -> tuple[Label, ...]:
        found: list[Label] = []
        wanted = sorted(set(run_ids))
        if len(wanted) > FEW_IDS and self._nobody_labels():
            return ()
        for ids in _parts(wanted):
            found += self._standing({"ids": ids})
        return tuple(found)

    def _nobody_labels(self) -> bool:
        """Whether the table is empty, as it is with most who judge live: asked each time, as anybody may begin now."""
        return not self._tables.has("labels") or not self._session.select(label_queries.ANY, {}).get("RunId")

    def history(self, run_id: str) -> tuple[Label, ...]:
        if not self._tables.has("labels"):
            return ()
        return tuple(_read(self._session.select(label_queries.HISTORY, {"id": run_id})))

    def all(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        source: Source | None = None,
        labeller: str | None = None,
    ) -> Iterator[Label]:
        return self._standing({"since": since_ns, "until": until_ns, "source": source, "labeller": labeller})

    def _standing(self, wanted: Mapping[str, Any]) -> Iterator[Label]:
        after: tuple[str, str, str] | None = None
        while self._tables.has("labels"):
            select = label_queries.standing(wanted, after, ROWS_PER_PAGE)
            page = list(_read(self._session.select(select.sql, select.params)))
            yield from page
            if len(page) < ROWS_PER_PAGE:
                return
            after = (page[-1].run_id, page[-1].source, page[-1].labeller)

    def find(self, prefix: str, limit: int = 6) -> tuple[str, ...]:
        if not prefix or not self._tables.has("runs"):
            return ()
        for sql in (label_queries.RUNS, label_queries.RUNS_OF_TRACE):
            found = self._session.select(sql, {"prefix": prefix, "limit": limit}).get("RunId", [])
            if found:
                return tuple(found)
        return ()

    def decisions(self, run_ids: Sequence[str], since_ns: int, until_ns: int) -> tuple[Decision, ...]:
        found: list[Decision] = []
        for ids in _parts(sorted(set(run_ids))) if self._tables.has("judgements") else ():
            select = label_queries.decisions(decision_rows.READ_COLUMNS, ids, since_ns, until_ns)
            found += decision_rows.read_decisions(self._session.select(select.sql, select.params))
        return tuple(found)

    def frame(self, since_ns: int, until_ns: int, sampling: Sampling, day: str = "") -> Frame:
        if not self._tables.has("judgements"):
            return Frame(day, {}, ())
        select = label_queries.sizes(since_ns, until_ns, sampling.unsure_below)
        rows = self._session.select(select.sql, select.params)
        sizes = {name: int(n) for name, n in zip(rows.get("Stratum", ()), rows.get("N", ()), strict=True)}
        select = label_queries.drawn(
            since_ns,
            until_ns,
            sampling.unsure_below,
            seed=f"{sampling.seed}/{day}",
            per_stratum=sampling.per_stratum,
            random=sampling.random,
        )
        found = self._session.select(select.sql, select.params)
        drawn = [_drawn(found, i, sampling) for i in range(len(found.get("RunId", ())))]
        return Frame(day, sizes, tuple(sorted(drawn, key=lambda d: (_ORDER[d.why], d.place))))


_ORDER = {"failure": 0, "unsure": 1, "tool": 2, "random": 3}


def _drawn(rows: Mapping[str, list[Any]], i: int, sampling: Sampling) -> Drawn:
    row = {name: values[i] for name, values in rows.items()}
    stratum, failed = row["Stratum"], row["Stratum"] == "failure"
    by_stratum = 1.0 if failed else min(1.0, sampling.per_stratum / row["Size"])
    by_random = min(1.0, sampling.random / row["Everybody"])
    chosen = failed or row["Rank"] <= sampling.per_stratum
    why = stratum.partition(":")[0] if chosen else "random"
    return Drawn(
        run_id=row["RunId"],
        trace_id=row["TraceId"],
        start_ns=int(row["Began"]),
        first_action=row["Action"],
        agent=row["Agent"],
        stratum=stratum,
        chance=1 - (1 - by_stratum) * (1 - by_random),
        why=why,
        place=(int(row["Place"]), "") if why == "random" else (int(row["Rank"]), stratum),
        reasons=(*(f"{rule} failed" for rule in row["Failed"]), *(said for flag, said in _FLAGS.items() if row[flag])),
    )


def _read(found: Mapping[str, list[Any]]) -> Iterator[Label]:
    for i in range(len(found.get("RunId", ()))):
        row = {name: values[i] for name, values in found.items()}
        texts: dict[str, Any] = {key: row[name] for name, key in _TEXTS.items()}
        texts |= {key: row[name] or None for name, key in _OPTIONAL.items()}
        yield Label(
            **texts,
            at_ns=row["AtNs"],
            start_ns=row["StartNs"],
            expected=tuple(row["Expected"]),
            chance=row["Chance"],
            record=json.loads(row["Record"]) if row["Record"] else {},
            withdrawn=bool(row["Gone"]),
        )


def _record_text(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) if record else ""


def _parts(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), IDS_PER_QUERY):
        yield items[start : start + IDS_PER_QUERY]
