"""Where decisions went: after a fix, a case may pass, or fail in another way, and others may have changed (R53).

The *place* of a case is its most frequent cell (expected x observed first action) over its judged runs, the first by
name of equals. A case that stands on both sides and whose observed action differs has moved:

- fixed: wrong before, right now;
- broken: right before, wrong now;
- displaced: wrong before, wrong now, in another cell;
- rerouted: right before and now, by another allowed action.

Right means that the cell lies on the diagonal. Cases without a cell on either side (excluded, no first-action label)
are left out. Moves of the same kind between the same actions stand together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from otel_toolselect.model.experiments import Move, MoveKind
from otel_toolselect.model.verdicts import Cell, RunVerdict

KINDS: tuple[MoveKind, ...] = ("broken", "displaced", "fixed", "rerouted")


def places(runs: Iterable[RunVerdict]) -> dict[str, Cell]:
    """The place of every case that has one, by id."""
    counts: dict[str, Counter[Cell]] = defaultdict(Counter)
    for run in runs:
        if run.excluded is None and run.cells:
            counts[run.case_id][run.cells[0]] += 1
    return {
        case: min(cells.items(), key=lambda item: (-item[1], item[0].expected, item[0].observed))[0]
        for case, cells in sorted(counts.items())
    }


def moves(before: Iterable[RunVerdict], after: Iterable[RunVerdict]) -> tuple[Move, ...]:
    """Whatever the order of the runs; the harmful kinds first, then the larger."""
    old, new = places(before), places(after)
    found: dict[tuple[MoveKind, str, str, str], list[str]] = defaultdict(list)
    for case in old.keys() & new.keys():
        a, b = old[case], new[case]
        if a.observed != b.observed:
            found[_kind(a, b), a.expected, a.observed, b.observed].append(case)
    made = [Move(*key, tuple(sorted(cases))) for key, cases in found.items()]
    return tuple(sorted(made, key=lambda m: (KINDS.index(m.kind), -len(m.cases), m.expected, m.before, m.after)))


def _kind(before: Cell, after: Cell) -> MoveKind:
    was, is_ = before.expected == before.observed, after.expected == after.observed
    if was:
        return "rerouted" if is_ else "broken"
    return "fixed" if is_ else "displaced"
