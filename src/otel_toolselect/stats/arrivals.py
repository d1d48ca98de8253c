"""What arrived, and how complete it is: the figures of `toolselect doctor`.

Scopes: one row per service and instrumentation scope, with the dialects that read its spans ("none": no dialect did,
which is normal for HTTP or database spans). Coverage: one row per service and dialect. Of its runs, how many show the
user's request and the tools on offer; of its tool calls, how many carry arguments, a call id and a result. A run whose
content was not recorded shows no call at all, so a share over runs matters even where no call was seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from otel_toolselect.model.runs import Run, Unknown
from otel_toolselect.model.spans import Span

ScopeKey = tuple[str, str, str]
NEEDS = ("request", "catalog", "arguments", "ids", "results")
"""What judging wants, in the order of a report; the first two are shares of runs, the others of calls."""
PER_RUN = ("request", "catalog")


@dataclass(frozen=True, slots=True)
class Scope:
    service: str
    scope: str
    version: str
    spans: int
    traces: int
    dialects: dict[str, int]
    clock: dict[str, int] = field(default_factory=dict)
    """Spans by what is wrong with their times ("end before start", "no end", "no start")."""


@dataclass(slots=True)
class Coverage:
    """`have` counts, per need, the runs or calls that carry it; `incomplete` the incomplete runs by reason."""

    service: str
    dialect: str
    runs: int = 0
    calls: int = 0
    have: Counter[str] = field(default_factory=Counter)
    incomplete: Counter[str] = field(default_factory=Counter)

    def total(self, need: str) -> int:
        return self.runs if need in PER_RUN else self.calls

    def missing(self) -> list[str]:
        """The needs that some run or call does not meet."""
        return [need for need in NEEDS if self.have[need] < self.total(need)]


def scopes(spans: Iterable[Span], dialect_of: Callable[[Span], str]) -> list[Scope]:
    """Rows by service, scope and version. A span that was sent twice counts once."""
    seen: dict[tuple[str, str], None] = {}
    counts: dict[ScopeKey, Counter[str]] = defaultdict(Counter)
    traces: dict[ScopeKey, set[str]] = defaultdict(set)
    clock: dict[ScopeKey, Counter[str]] = defaultdict(Counter)
    for span in spans:
        ident = (span.trace_id, span.span_id)
        if span.span_id and ident in seen:
            continue
        seen[ident] = None
        key = (span.service, span.scope_name, span.scope_version)
        counts[key][dialect_of(span)] += 1
        traces[key].add(span.trace_id)
        if span.clock_fault:
            clock[key][span.clock_fault] += 1
    return [
        Scope(
            *key,
            spans=found.total(),
            traces=len(traces[key]),
            dialects=dict(sorted(found.items())),
            clock=dict(clock[key]),
        )
        for key, found in sorted(counts.items())
    ]


def coverage(runs: Iterable[Run]) -> list[Coverage]:
    """Rows by service and dialect. A run that several dialects saw counts in each; a call counts where it was read."""
    rows: dict[tuple[str, str], Coverage] = {}
    for run in runs:
        for dialect in run.dialects or ("none",):
            row = rows.setdefault((run.service, dialect), Coverage(run.service, dialect))
            row.runs += 1
            if run.incomplete is not None:
                row.incomplete[run.incomplete] += 1
            row.have["request"] += bool(run.request)
            row.have["catalog"] += run.tools is not None
        for call in run.calls:
            row = rows.setdefault((run.service, call.dialect), Coverage(run.service, call.dialect))
            result = run.result_of(call)
            row.calls += 1
            row.have["arguments"] += not isinstance(call.args, Unknown)
            row.have["ids"] += call.call_id is not None
            row.have["results"] += result is not None and not isinstance(result.value, Unknown)
    return [rows[key] for key in sorted(rows)]
