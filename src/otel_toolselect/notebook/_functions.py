"""What the commands do, as functions with typed results."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from otel_toolselect.notebook._results import Comparison, Gated, Runs, Scorecard, Windows

if TYPE_CHECKING:
    import pandas as pd

    from otel_toolselect.model.figures import Report
    from otel_toolselect.store import Store

Paths: TypeAlias = str | Path | Sequence[str | Path]
"""Files or folders of traces, as `toolselect score` takes them."""


def runs(paths: Paths) -> Runs:
    """The agent runs in trace files of any dialect. What had to be left out is a warning. Raises InputError."""
    from otel_toolselect import app

    return Runs(tuple(app.runs_from_files(_listed(paths), warn=_warn)))


def stored_runs(
    *, store: str | None = None, since: str | None = None, until: str | None = None, service: str | None = None
) -> Runs:
    """The agent runs of all stored traces that touch the window: `since="24h"`, or ISO 8601. Raises StoreError."""
    from otel_toolselect import app
    from otel_toolselect.app.times import moment

    with _opened(store) as held:
        found = app.runs_from_store(held, since_ns=moment(since), until_ns=moment(until), service=service)
    return Runs(tuple(found))


def doctor(paths: Paths) -> pd.DataFrame:
    """How much of what judging needs arrived, per service and instrumentation dialect. Raises InputError."""
    from otel_toolselect import app
    from otel_toolselect.notebook import _frames

    return _frames.coverage(app.doctor(*app.read_files(_listed(paths), _warn)).coverage)


def score(paths: Paths, suite: str | Path) -> Scorecard:
    """Judge the runs in trace files against a suite; nothing is kept. Raises InputError, SuiteError."""
    from otel_toolselect import app

    done = app.scored(_listed(paths), str(suite), warn=_warn)
    return Scorecard(done.report, done.runs)


def evaluate(
    suite: str | Path,
    *,
    store: str | None = None,
    since: str | None = None,
    until: str | None = None,
    service: str | None = None,
) -> Scorecard:
    """Judge the stored runs against a suite and keep the verdicts, as `toolselect eval` does.

    Raises SuiteError, StoreError.
    """
    from otel_toolselect import app
    from otel_toolselect.app.times import moment

    with _opened(store) as held:
        done = app.evaluate(held, str(suite), since_ns=moment(since), until_ns=moment(until), service=service)
    return Scorecard(done.report, done.runs)


def read_report(path: str | Path) -> Scorecard:
    """A report that `toolselect score --format json` wrote. Raises InputError."""
    from otel_toolselect import reports

    return Scorecard(reports.read_report(str(path)), {})


def confusion(
    *,
    window: str,
    slide: str | None = None,
    zone: str = "UTC",
    since: str | None = None,
    until: str | None = None,
    suite: str | None = None,
    policy: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    store: str | None = None,
) -> Windows:
    """Confusion over windows of event time, from the decisions in the store: `window="1d", since="30d", by="agent"`.

    Without `since` the last 24 windows. Raises UsageError, StoreError.
    """
    from otel_toolselect.app.windows import Cut, confusion_over

    cut = Cut(window, slide, zone, since, until, suite, _several(policy), _several(by))
    windows, scope, dimensions = cut.windows(), cut.scope(), cut.dimensions()
    with _opened(store) as held:
        return Windows(confusion_over(held, scope, dimensions, windows), zone)


def compare(*sides: Scorecard | str | Path, by: str | None = None) -> Comparison:
    """Scorecards or report files side by side; the first is held against. With `by` (label, model, prompt, catalog,
    agent) the parts of a single one. Figures are over the cases that all sides have. Raises UsageError, TooFewError.
    """
    from otel_toolselect import gates
    from otel_toolselect.errors import UsageError

    if by is not None and by not in gates.SPLITS:
        raise UsageError(f"by={by!r} is none of {', '.join(gates.SPLITS)}")
    if by is None:
        return Comparison(gates.compare([_named(side, i) for i, side in enumerate(sides, 1)]))
    if len(sides) != 1:
        raise UsageError(f"by={by!r} splits one scorecard; {len(sides)} were given")
    return Comparison(gates.compare(gates.split(_named(sides[0], 1)[1], by)))


def gate(candidate: Scorecard | str | Path, baseline: str | Path, policy: str | Path | None = None) -> Gated:
    """Hold a candidate against what `toolselect baseline accept` wrote. Raises InputError, TooFewError."""
    from otel_toolselect import gates

    limits = gates.load_policy(None if policy is None else str(policy))
    return Gated(gates.check(_card(candidate).report, gates.load_baseline(str(baseline)), limits))


def _named(side: Scorecard | str | Path, number: int) -> tuple[str, Report]:
    name = f"{number}" if isinstance(side, Scorecard) else Path(side).stem
    return name, _card(side).report


def _card(given: Scorecard | str | Path) -> Scorecard:
    return given if isinstance(given, Scorecard) else read_report(given)


def _listed(paths: Paths) -> list[str]:
    return [str(paths)] if isinstance(paths, (str, Path)) else [str(path) for path in paths]


def _several(given: str | Sequence[str] | None) -> Sequence[str] | None:
    return [given] if isinstance(given, str) else given


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=4)


@contextmanager
def _opened(dsn: str | None) -> Iterator[Store]:
    from otel_toolselect.config import load
    from otel_toolselect.store import open_store

    store = open_store(load({"store": dsn}).dsn, create=False)
    try:
        yield store
    finally:
        store.close()
