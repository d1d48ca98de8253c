"""Reports as records per case, and what two sets of records have in common (R43: identical cases).

Identical cases: on both sides by id, with at least one selection that passed or failed on either, and with the same
request where both recorded it. What is not identical is listed, never averaged in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from otel_toolselect.model.gating import IDENTITIES, CaseRecord, Differences, Moved
from otel_toolselect.model.values import digest
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.stats import selected

_FIELDS = {"model": "model", "prompt": "prompt_version", "catalog": "catalog_id", "policy": "policy_version"}


def case_records(runs: Iterable[RunVerdict]) -> dict[str, CaseRecord]:
    """By case id, sorted. A case whose runs were all excluded has a record with n = 0."""
    by_case: dict[str, list[RunVerdict]] = defaultdict(list)
    for run in runs:
        by_case[run.case_id].append(run)
    return {case_id: _record(found) for case_id, found in sorted(by_case.items())}


def _record(runs: Sequence[RunVerdict]) -> CaseRecord:
    judged = [run for run in runs if run.excluded is None]
    outcomes = [passed for passed in map(selected, judged) if passed is not None]
    cells = Counter(cell for run in judged for cell in run.cells)
    asked = [run.layers["clarification"].status for run in judged if "clarification" in run.layers]
    requests = {run.request for run in runs}
    request = requests.pop() if len(requests) == 1 else None
    risks = sorted({run.risk for run in runs if run.risk is not None})
    return CaseRecord(
        passed=sum(outcomes),
        n=len(outcomes),
        cells=sorted_cells(cells),
        clarified=(asked.count("pass"), asked.count("pass") + asked.count("fail")),
        risk=risks[0] if risks else None,
        request=None if request is None else digest(request).removeprefix("sha256:")[:12],
    )


def sorted_cells(counts: Mapping[Cell, int]) -> tuple[tuple[Cell, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (item[0].expected, item[0].observed)))


def identities(runs: Iterable[RunVerdict]) -> dict[str, tuple[str, ...]]:
    """The distinct models, prompts, catalogs and policies of the judged runs; () when none is recorded."""
    judged = [run for run in runs if run.excluded is None]
    return {
        what: tuple(sorted({v for v in (getattr(run, _FIELDS[what]) for run in judged) if v is not None}))
        for what in IDENTITIES
    }


def moved(before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]) -> tuple[Moved, ...]:
    """Each identity: the same set on both sides, another one, or not known."""
    found = []
    for what in IDENTITIES:
        a, b = before.get(what, ()), after.get(what, ())
        movement = "unknown" if not a or not b else "same" if a == b else "moved"
        found.append(Moved(what, movement, a, b))  # type: ignore[arg-type]
    return tuple(found)


def common(
    before: Mapping[str, CaseRecord], after: Mapping[str, CaseRecord], identity: tuple[Moved, ...] = ()
) -> tuple[tuple[str, ...], Differences]:
    """The identical cases, and what differs."""
    seen = {name for name, record in before.items() if record.n}, {name for name, record in after.items() if record.n}
    both = seen[0] & seen[1]
    changed = {name for name in both if _changed(before[name].request, after[name].request)}
    differences = Differences(
        only_before=tuple(sorted(seen[0] - seen[1])),
        only_after=tuple(sorted(seen[1] - seen[0])),
        changed_request=tuple(sorted(changed)),
        identities=identity,
    )
    return tuple(sorted(both - changed)), differences


def _changed(before: str | None, after: str | None) -> bool:
    return before is not None and after is not None and before != after
