"""What `toolselect doctor` found, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._words import count, counted
from otel_toolselect.stats.arrivals import NEEDS, Coverage, Scope


@dataclass(frozen=True, slots=True)
class Arrivals:
    """`hints`: by service and dialect, then by need, the switch that brings what is missing."""

    scopes: Sequence[Scope]
    coverage: Sequence[Coverage]
    hints: Mapping[tuple[str, str], Mapping[str, str]]
    loose_logs: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)

    def advice(self, row: Coverage) -> dict[str, str]:
        """Switch by need, for the needs of this row that are not fully met and have one."""
        known = self.hints.get((row.service, row.dialect), {})
        return {need: known[need] for need in row.missing() if need in known}


def arrivals_table(found: Arrivals, *, colour: bool, width: int) -> str:
    return paint(_blocks(found), colour=colour, width=width)


def arrivals_json(found: Arrivals) -> str:
    rows: list[dict[str, Any]] = []
    for row in found.coverage:
        shares = {need: {"n": row.total(need), "have": row.have[need]} for need in NEEDS}
        head = {"service": row.service, "dialect": row.dialect, "runs": row.runs, "incomplete": row.incomplete.total()}
        rows.append({**head, "calls": row.calls, **shares, "switches": found.advice(row)})
    document = {"schema": "toolselect.doctor/1", "scopes": found.scopes, "coverage": rows}
    return dumps({**document, "logs_without_span": found.loose_logs, "faults": dict(found.faults)}, indent=2) + "\n"


def _blocks(found: Arrivals) -> Iterator[Block]:
    spans = sum(scope.spans for scope in found.scopes)
    yield Heading(f"{count(spans, 'span')} of {count(len(found.scopes), 'instrumentation scope')}")
    if not spans:
        yield Line("nothing has arrived; point OTEL_EXPORTER_OTLP_ENDPOINT of your agent at `toolselect serve`", "warn")
        return
    yield from _scopes(found)
    for scope in found.scopes:
        for fault, n in sorted(scope.clock.items()):
            said = f"{count(n, 'span')} of {scope.service or scope.scope}: {fault}; kept, without a duration"
            yield Line(said, "warn", indent=2)
    for fault, n in sorted(found.faults.items()):
        yield Line(f"{count(n, 'span')} could not be read by dialect {fault}; please report it", "bad", indent=2)
    if found.loose_logs:
        yield Line(
            f"{count(found.loose_logs, 'log record')} without a span: nothing says to which run they belong", "warn"
        )
    if not found.coverage:
        yield Line("no agent run among them: no span is of a known GenAI instrumentation", "warn")
        return
    yield from _coverage(found)
    yield from _switches(found)


def _scopes(found: Arrivals) -> Iterator[Block]:
    yield Heading("what arrived")
    rows = []
    for s in found.scopes:
        read = ", ".join(f"{name} {n}" for name, n in s.dialects.items())
        style: Style = "dim" if set(s.dialects) == {"none"} else ""
        words = (s.service or "(no service.name)", f"{s.scope} {s.version}".strip() or "(no scope)")
        rows.append(tuple(Cell(w, style) for w in (*words, str(s.spans), str(s.traces), read)))
    counts = (Column("spans", True), Column("traces", True))
    titles = (Column("service"), Column("scope"), *counts, Column("read by dialect"))
    yield Grid(titles, tuple(rows))


def _coverage(found: Arrivals) -> Iterator[Block]:
    yield Heading("how complete it is (request and catalog of runs, the rest of tool calls)")
    rows = []
    for row in found.coverage:
        cells = [Cell(row.service or "(no service.name)"), Cell(row.dialect), Cell(str(row.runs)), Cell(str(row.calls))]
        for need in NEEDS:
            total, have = row.total(need), row.have[need]
            style: Style = "good" if have == total else "warn" if have else "bad"
            cells.append(Cell(counted(have / total if total else None, have, total), style if total else "dim"))
        rows.append(tuple(cells))
    titles = (Column("service"), Column("dialect"), Column("runs", True), Column("calls", True))
    yield Grid((*titles, *(Column(need, True) for need in NEEDS)), tuple(rows))
    for row in found.coverage:
        for reason, n in sorted(row.incomplete.items()):
            yield Line(f"{count(n, 'run')} of {row.service or row.dialect} not complete: {reason}", "warn", indent=2)


def _switches(found: Arrivals) -> Iterator[Block]:
    wanting = [row for row in found.coverage if row.missing()]
    if not wanting:
        yield Line("everything that judging needs is there", "good", indent=2)
        return
    yield Heading("what turns on the missing")
    for row in wanting:
        advice = found.advice(row)
        for hint in dict.fromkeys(advice.values()):
            needs = ", ".join(need for need in NEEDS if advice.get(need) == hint)
            yield Line(f"{row.service or row.dialect} ({row.dialect}), {needs}:", "bold", indent=2)
            yield Line(hint, indent=4)
        for need in row.missing():
            if need not in advice:
                yield Line(f"{row.service or row.dialect} ({row.dialect}), {need}: no switch is known", "dim", indent=2)
