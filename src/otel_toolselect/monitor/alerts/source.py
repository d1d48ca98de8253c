"""Where observations come from: a store, or the literal series of a test. The alerts know neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from otel_toolselect.model.alerting import Observed, Query, Series, Window
from otel_toolselect.model.signals import SIGNALS


class Source(Protocol):
    """Answers queries. Contract: one Observed per window asked for, with that window's bounds, in the same order; a
    query without `by` has the one series (), also when nothing was seen; one with `by` has a series for each
    combination seen in any of the windows. Windows without observations have n = 0, and value None (0 for counts). A
    reference is given when the query names what to compare with and it exists.
    """

    def observe(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]: ...


def with_known(
    query: Query,
    windows: Sequence[Window],
    observed: Mapping[Series, tuple[Observed, ...]],
    known: Iterable[Series],
) -> dict[Series, tuple[Observed, ...]]:
    """The answer completed by series that have a state but are not in it: empty windows, so that a tool or agent that
    falls silent is noticed.
    """
    value = 0.0 if SIGNALS[query.signal].empty_is_zero else None
    empty = tuple(Observed(w.start_ns, w.end_ns, value, 0) for w in windows)
    return {**dict.fromkeys(known, empty), **observed}
