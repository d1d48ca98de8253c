"""Reports side by side: what moved, which cases flipped, what it cost (R22, R43, R45, R53, R56).

- The first side is the one that the others are held against. All figures are over the cases that every side has
  (identical cases, see `records`), so that no side looks better for what it left out.
- moved: the sets of models, prompt versions or catalogs of the judged runs differ; `unknown` where a side has none.
- flipped: the case's outcome by majority differs (case level); rerouted: same outcome, another most frequent action.
- displaced cells: off-diagonal cells whose share of their row differs; moves: which decisions went where
  (`stats.displacement`); p: exact McNemar over cases (`stats.paired`).
- cost beside accuracy: means over the runs that record tokens or cost, median and 95th percentile (nearest rank) of the
  duration, each with its own n.
- catalogs: accuracy of each side's runs by the catalog that they were offered, with its size: accuracy against catalog
  size or variant (R45), over all judged runs of the side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from statistics import median

from otel_toolselect.errors import InputError, TooFewError, UsageError
from otel_toolselect.gates.records import case_records, common, identities, moved
from otel_toolselect.gates.side import Side, of_records
from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Rate, Report
from otel_toolselect.model.gating import (
    Against,
    CaseRecord,
    CatalogPoint,
    Comparison,
    FlippedCase,
    MovedCell,
    SideFigures,
)
from otel_toolselect.model.verdicts import RunVerdict, SuiteVerdicts
from otel_toolselect.stats import CaseRepeats, paired, rate, repeats, report, selected
from otel_toolselect.stats.displacement import moves

SPLITS = ("label", "model", "prompt", "catalog", "agent")
NONE = "(none)"


def split(whole: Report, by: str) -> list[tuple[str, Report]]:
    """One report per label, model, prompt, catalog or agent, by name; runs without one are "(none)"."""
    parts: dict[str, list[RunVerdict]] = defaultdict(list)
    for run in whole.runs:
        parts[_key(whole, run, by)].append(run)
    return [(name, only(whole, runs)) for name, runs in sorted(parts.items())]


def _key(whole: Report, run: RunVerdict, by: str) -> str:
    if by == "agent":
        fact = whole.facts.get(run.run_id)
        return (fact.agent if fact is not None else None) or NONE
    fields = {"label": run.label, "model": run.model, "prompt": run.prompt_version, "catalog": run.catalog_id}
    return fields[by] or NONE


def only(whole: Report, runs: Iterable[RunVerdict]) -> Report:
    """A report on some of a report's runs. What matched no case is not known of a part, so it is not counted there."""
    kept = tuple(runs)
    facts = {run.run_id: whole.facts[run.run_id] for run in kept if run.run_id in whole.facts}
    return report(SuiteVerdicts(whole.suite, kept, facts=facts, groups=whole.groups))


def labelled(whole: Report, label: str) -> Report:
    """The runs of one label. Raises UsageError naming the labels that there are."""
    kept = [run for run in whole.runs if run.label == label]
    if not kept:
        known = sorted({run.label for run in whole.runs if run.label is not None})
        raise UsageError(
            f"no run has the label {label!r}; " + (f"known: {', '.join(known)}" if known else "none has any")
        )
    return only(whole, kept)


def compare(sides: Sequence[tuple[str, Report]]) -> Comparison:
    """Two sides or more. Raises InputError for different suites, TooFewError when no case is on all sides."""
    if len(sides) < 2:
        raise UsageError("nothing to compare: give two reports or more, or one with --by label")
    suites = {found.suite for _, found in sides}
    if len(suites) > 1:
        raise InputError(f"reports of different suites cannot be compared: {', '.join(sorted(suites))}")
    sides = _named(sides)
    records = [case_records(found.runs) for _, found in sides]
    cases = _common(records)
    if not cases:
        raise TooFewError("no case was judged with the same request on all sides")
    figures = [of_records([known[case] for case in cases], cases) for known in records]
    return Comparison(
        suite=sides[0][1].suite,
        cases=cases,
        sides=tuple(_side(name, found, cases, side) for (name, found), side in zip(sides, figures, strict=True)),
        against=tuple(
            _against(sides[0], sides[i], (records[0], records[i]), cases, (figures[0], figures[i]))
            for i in range(1, len(sides))
        ),
        catalogs=tuple(point for name, found in sides for point in _catalogs(name, found)),
        outcomes={case: tuple((known[case].passed, known[case].n) for known in records) for case in cases},
    )


def _named(sides: Sequence[tuple[str, Report]]) -> list[tuple[str, Report]]:
    """Names made different: two files of one name get a number."""
    seen: dict[str, int] = defaultdict(int)
    found = []
    for name, side in sides:
        seen[name] += 1
        found.append((name if seen[name] == 1 else f"{name} ({seen[name]})", side))
    return found


def _common(records: Sequence[Mapping[str, CaseRecord]]) -> tuple[str, ...]:
    names = set(common(records[0], records[0])[0])
    for i, one in enumerate(records):
        for other in records[i + 1 :]:
            names &= set(common(one, other)[0])
    return tuple(sorted(names))


def _side(name: str, found: Report, cases: tuple[str, ...], side: Side) -> SideFigures:
    chosen = set(cases)
    runs = [run for run in found.runs if run.case_id in chosen]
    judged = [run for run in runs if run.excluded is None]
    facts = [found.facts[run.run_id] for run in judged if run.run_id in found.facts]
    seconds = sorted(fact.duration_ns / 1e9 for fact in facts if fact.duration_ns is not None)
    tokens = [total for total in map(_tokens, facts) if total is not None]
    costs = [Fraction(fact.cost_usd) for fact in facts if fact.cost_usd is not None]
    known = repeats(runs)
    return SideFigures(
        name=name,
        runs=len(runs),
        judged=len(judged),
        infra=sum(run.excluded == "infra" for run in runs),
        accuracy=rate(known.observations.passed, known.observations.n),
        case_mean=known.mean,
        case_majority=known.majority,
        flips=known.flips,
        identities=identities(judged),
        catalog_sizes=tuple(sorted({len(fact.tools_offered) for fact in facts if fact.tools_offered is not None})),
        worst_recall=_worst(side),
        seconds_median=median(seconds) if seconds else None,
        seconds_p95=seconds[ceil(0.95 * len(seconds)) - 1] if seconds else None,
        seconds_n=len(seconds),
        tokens_mean=sum(tokens) / len(tokens) if tokens else None,
        tokens_n=len(tokens),
        cost_mean=float(sum(costs) / len(costs)) if costs else None,
        cost_n=len(costs),
    )


def _tokens(fact: RunFacts) -> int | None:
    if fact.input_tokens is None and fact.output_tokens is None:
        return None
    return (fact.input_tokens or 0) + (fact.output_tokens or 0)


def _worst(side: Side) -> tuple[str, Rate] | None:
    if not side.recall:
        return None
    tool = min(side.recall, key=lambda t: (Fraction(*side.recall[t]), -side.recall[t][1], t))
    return tool, rate(*side.recall[tool])


def _against(
    first: tuple[str, Report],
    other: tuple[str, Report],
    records: tuple[Mapping[str, CaseRecord], Mapping[str, CaseRecord]],
    cases: tuple[str, ...],
    figures: tuple[Side, Side],
) -> Against:
    identity = moved(identities(first[1].runs), identities(other[1].runs))
    _, differences = common(*records, identity)
    before = {case.case_id: case for case in repeats(first[1].runs).cases}
    after = {case.case_id: case for case in repeats(other[1].runs).cases}
    found = paired(figures[0].outcomes or {}, figures[1].outcomes or {})
    changed = {*found.lost, *found.gained}
    same = [case for case in cases if case not in changed and before[case].actions[0][0] != after[case].actions[0][0]]

    def shown(names: Iterable[str]) -> tuple[FlippedCase, ...]:
        return tuple(_flipped(name, before[name], after[name]) for name in names)

    chosen = set(cases)
    sides = [[run for run in side.runs if run.case_id in chosen] for _, side in (first, other)]
    return Against(
        name=other[0],
        differences=differences,
        lost=shown(found.lost),
        gained=shown(found.gained),
        rerouted=shown(same),
        cells=_cells(*figures),
        p=found.p,
        moves=moves(*sides),
    )


def _flipped(name: str, a: CaseRepeats, b: CaseRepeats) -> FlippedCase:
    return FlippedCase(name, (a.passed, a.n), (b.passed, b.n), a.actions, b.actions)


def _cells(before: Side, after: Side) -> tuple[MovedCell, ...]:
    found: list[tuple[int, Fraction, MovedCell]] = []
    order = {"new": 0, "grown": 1, "shrunk": 2, "gone": 3}
    cells = before.off_diagonal.keys() | after.off_diagonal.keys()
    for cell in sorted(cells, key=lambda c: (c.expected, c.observed)):
        old, new = before.row_share(cell), after.row_share(cell)
        a, b = (Fraction(n, of) if of else Fraction(0) for n, of in (old, new))
        if a != b:
            kind = "new" if not a else "gone" if not b else "grown" if b > a else "shrunk"
            found.append((order[kind], -abs(b - a), MovedCell(cell, old, new, kind)))
    return tuple(moved_cell for _, _, moved_cell in sorted(found, key=lambda item: item[:2]))


def _catalogs(name: str, found: Report) -> Iterable[CatalogPoint]:
    by_catalog: dict[tuple[int, str], list[bool]] = defaultdict(list)
    for run in found.runs:
        passed = selected(run)
        if passed is None:
            continue
        fact = found.facts.get(run.run_id)
        size = -1 if fact is None or fact.tools_offered is None else len(fact.tools_offered)
        by_catalog[size, run.catalog_id or NONE].append(passed)
    for (size, catalog), outcomes in sorted(by_catalog.items()):
        yield CatalogPoint(name, catalog, None if size < 0 else size, rate(sum(outcomes), len(outcomes)))
