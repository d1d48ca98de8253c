"""Accepting a report as the baseline, and what an acceptance changes (R42).

A baseline needs two people: who accepts it, and somebody else who reviewed it. It is refused without a reviewer, with
the same person twice, and for a report that judged nothing or mixes labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from otel_toolselect.errors import TooFewError, UsageError
from otel_toolselect.gates.baselines import same_person
from otel_toolselect.gates.records import case_records, identities, sorted_cells
from otel_toolselect.gates.side import of_records
from otel_toolselect.model.figures import Report
from otel_toolselect.model.gating import IDENTITIES, Baseline
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats import repeats


def accept(report: Report, *, by: str | None, reviewer: str | None, on: str) -> Baseline:
    """The report as a baseline. Raises UsageError when a person is missing, TooFewError when nothing was judged."""
    by, reviewer = _people(by, reviewer)
    labels = sorted({run.label or "(no label)" for run in report.runs if run.excluded is None})
    if len(labels) > 1:
        raise UsageError(f"the report mixes the labels {', '.join(labels)}; choose one with --label")
    records = case_records(report.runs)
    observed = {name: record for name, record in records.items() if record.n}
    if not observed:
        raise TooFewError("nothing to accept: the report judged no selection")
    side = of_records(observed.values(), observed)
    found = repeats(report.runs)
    s = report.summary
    return Baseline(
        suite=report.suite,
        by=by,
        reviewer=reviewer,
        on=on,
        accuracy=found.observations.rate,
        accuracy_n=found.observations.n,
        case_mean=None if found.mean is None else round(found.mean, 6),
        identities=identities(report.runs),
        observations={
            "runs": s.runs,
            "judged": s.judged,
            "infra": s.infra,
            "catalog_gap": s.catalog_gap,
            "incomplete": s.incomplete,
            "cases": len(observed),
        },
        flipping=tuple(case.case_id for case in found.flipping),
        repeated_cases=found.flips.n,
        flip_rate=None if found.flips.rate is None else round(found.flips.rate, 6),
        recall=side.recall,
        cells=sorted_cells(side.off_diagonal),
        risk=side.risk,
        clarification=side.clarification,
        cases=observed,
    )


def _people(by: str | None, reviewer: str | None) -> tuple[str, str]:
    if not by or not by.strip():
        raise UsageError("who accepts the baseline? give --by NAME")
    if not reviewer or not reviewer.strip():
        raise UsageError("a baseline needs a second reviewer: give --reviewer NAME, somebody other than --by")
    if same_person(by, reviewer):
        raise UsageError(f"--by and --reviewer are both {by.strip()!r}: the second reviewer must be another person")
    return by.strip(), reviewer.strip()


def diff(old: Baseline | None, new: Baseline) -> tuple[str, ...]:
    """What changes, one line each; a line that makes the gate laxer ends in "(laxer)"."""
    if old is None:
        return ("no baseline before: everything is new",)
    return tuple(_changes(old, new))


def _changes(old: Baseline, new: Baseline) -> Iterator[str]:
    if old.suite != new.suite:
        yield f"suite: {old.suite} -> {new.suite}"
    for what in IDENTITIES:
        a, b = old.identities.get(what, ()), new.identities.get(what, ())
        if a != b:
            yield f"{what}: {_listed(a)} -> {_listed(b)}"
    yield from _figure("accuracy", _accuracy(old), _accuracy(new), _lower(old.accuracy, new.accuracy))
    flips = _flips(old), _flips(new)
    yield from _figure("flip rate (cases)", *flips, (new.flip_rate or 0) > (old.flip_rate or 0))
    for name, (a2, b2) in _both(old.recall, new.recall):
        yield from _figure(f"recall of {name}", _counts(a2), _counts(b2), _share_fell(a2, b2))
    for name, (a2, b2) in _both(old.risk, new.risk):
        yield from _figure(f"selection at risk {name}", _counts(a2), _counts(b2), _share_fell(a2, b2))
    asked = old.clarification, new.clarification
    yield from _figure("clarification", _counts(asked[0]), _counts(asked[1]), _share_fell(*asked))
    yield from _cell_changes(dict(old.cells), dict(new.cells))
    yield from _case_changes(old, new)


def _cell_changes(before: Mapping[Cell, int], after: Mapping[Cell, int]) -> Iterator[str]:
    for cell in sorted(before.keys() | after.keys(), key=lambda c: (c.expected, c.observed)):
        a, b = before.get(cell, 0), after.get(cell, 0)
        if a != b:
            kind = "new cell" if not a else "cell gone" if not b else "cell"
            yield f"{kind} {cell.expected} -> {cell.observed}: {a} -> {b}{' (laxer)' if not a else ''}"


def _case_changes(old: Baseline, new: Baseline) -> Iterator[str]:
    if old.cases is None or new.cases is None:
        return
    gone, added = sorted(old.cases.keys() - new.cases.keys()), sorted(new.cases.keys() - old.cases.keys())
    if gone:
        yield f"cases no longer covered: {', '.join(gone)} (laxer)"
    if added:
        yield f"cases added: {', '.join(added)}"
    for name in sorted(old.cases.keys() & new.cases.keys()):
        a, b = old.cases[name], new.cases[name]
        if (a.passed * b.n) != (b.passed * a.n):
            yield f"case {name}: {a.passed}/{a.n} -> {b.passed}/{b.n}"


def _figure(name: str, before: str, after: str, laxer: bool) -> Iterator[str]:
    if before != after:
        yield f"{name}: {before} -> {after}{' (laxer)' if laxer else ''}"


def _both(
    a: Mapping[str, tuple[int, int]], b: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, tuple[tuple[int, int], tuple[int, int]]]]:
    for name in sorted(a.keys() | b.keys()):
        yield name, (a.get(name, (0, 0)), b.get(name, (0, 0)))


def _share_fell(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] * b[1] > b[0] * a[1]


def _lower(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and b < a


def _counts(share: tuple[int, int]) -> str:
    return f"{share[0]}/{share[1]}" if share[1] else "none"


def _accuracy(b: Baseline) -> str:
    if b.accuracy is None:
        return "none"
    return f"{round(b.accuracy * b.accuracy_n)}/{b.accuracy_n} runs" if b.accuracy_n else f"{b.accuracy}"


def _flips(b: Baseline) -> str:
    return "not measured" if b.flip_rate is None else f"{b.flip_rate:.3f} ({len(b.flipping)}/{b.repeated_cases})"


def summary_lines(b: Baseline) -> tuple[str, ...]:
    """A baseline for people: who stands for it, its figures, its known confusions."""
    counts = ", ".join(f"{n} {name}" for name, n in b.observations.items())
    lines = [
        f"{b.suite}: accepted by {b.by}, reviewed by {b.reviewer}, {b.on}",
        *(f"{what}: {_listed(b.identities.get(what, ()))}" for what in IDENTITIES),
        f"observations: {counts or 'not recorded'}",
        f"accuracy: {_accuracy(b)}",
        f"flip rate (cases): {_flips(b)}" + (f": {', '.join(b.flipping)}" if b.flipping else ""),
        f"clarification: {_counts(b.clarification)}",
        *(f"selection at risk {name}: {_counts(share)}" for name, share in sorted(b.risk.items())),
        *(f"recall of {name}: {_counts(share)}" for name, share in sorted(b.recall.items())),
        *(f"known cell {cell.expected} -> {cell.observed}: {n}" for cell, n in b.cells),
    ]
    return tuple(lines)


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(values) or "not recorded"
