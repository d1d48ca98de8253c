"""The alerts of data/month.alerts.yaml once more, as formulas over a table of decisions (see `truth`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, fisher_exact

from tests.monitor.month.plan import HOUR, ZONE, Plan
from tests.monitor.month.traffic import INVOICE, REFUND
from tests.monitor.month.truth import Known, Measure, Rows, Seen, Series, Watch, days, hours

Counts = tuple[int, int]
DAY = 24 * HOUR


def watches(plan: Plan) -> list[Watch]:
    daily, hourly, two_hours = days(), hours(HOUR, HOUR), hours(2 * HOUR, 2 * HOUR)
    return [
        Watch("accuracy", daily, _one(partial(_accuracy, plan)), no_data_ns=DAY),
        Watch("accuracy-of-agent", days(7), _accuracy_by_agent),
        Watch("worst-tool", daily, _one(_worst)),
        Watch("recall-after-release", daily, partial(_recall_by_tool, plan)),
        Watch("refund-for-invoice", two_hours, _one(_confusions)),
        Watch("refunds-confused", hours(4 * HOUR, 2 * HOUR), _one(_confused), for_ns=2 * HOUR, keep_ns=4 * HOUR),
        Watch("forbidden-writes", hourly, _one(_forbidden), keep_ns=3 * HOUR),
        Watch("forbidden-writes-of-the-day", daily, _one(_forbidden)),
        Watch("nothing-arrives", hourly, _one(_silence)),
        Watch("infra", hourly, _one(_infra), for_ns=HOUR),
        Watch("dearer", daily, _one(_dearer)),
        Watch("other-mix", daily, _one(partial(_mix, plan))),
        Watch("invented-tools", hourly, _one(_none)),
    ]


def _one(figure: Callable[[Known, int, int], Seen]) -> Measure:
    return lambda known, start, end: {(): figure(known, start, end)}


def _accuracy(plan: Plan, known: Known, start: int, end: int) -> Seen:
    lead = plan.lead
    return _dropped(_passed(known.between(start, end)), _passed(known.between(lead.start_ns, lead.end_ns)), 0.08, 200)


def _accuracy_by_agent(known: Known, start: int, end: int) -> dict[Series, Seen]:
    now, before = known.between(start, end), known.between(*_earlier(start, end))
    found: dict[Series, Seen] = {}
    for agent in map(str, np.unique(now.agent)):
        sides = [_passed(rows[rows.agent == agent]) for rows in (now, before)]
        found[(("agent", agent),)] = _dropped(sides[0], sides[1], 0.05, 200)
    return found


def _passed(rows: Rows) -> Counts:
    judged = rows[rows.judged]
    return int(judged.passed.sum()), len(judged)


def _worst(known: Known, start: int, end: int) -> Seen:
    by_tool = {tool: counts for tool, counts in _recalls(known.between(start, end)).items() if counts[1] >= 25}
    if not by_tool:
        return Seen("empty", 0, 0)
    hits, n = min(by_tool.values(), key=lambda c: (c[0] / c[1], -c[1]))
    return Seen("breach" if hits < 0.6 * n else "good", hits, n)


def _recalls(rows: Rows) -> dict[str, Counts]:
    judged = rows[rows.judged]
    tools, which = np.unique(judged.expected, return_inverse=True)
    n, hits = np.bincount(which), np.bincount(which, weights=judged.expected == judged.observed)
    return {str(tool): (int(hit), int(k)) for tool, hit, k in zip(tools, hits, n, strict=True)}


def _recall_by_tool(plan: Plan, known: Known, start: int, end: int) -> dict[Series, Seen]:
    """Against what ran before the last release that began before the window ended, at most 14 days of it."""
    begun = [first for first in _releases(plan, known) if first < end]
    now = _recalls(known.between(start, end))
    if not begun:
        return {(("tool", tool),): Seen("held" if n else "empty", hits, n) for tool, (hits, n) in now.items()}
    since = max(begun[-1] - 14 * DAY, begun[-2] if len(begun) > 1 else 0)
    before = _recalls(known.between(since, begun[-1]))
    return {(("tool", tool),): _dropped(counts, before.get(tool, (0, 0)), 0.2, 20) for tool, counts in now.items()}


def _releases(plan: Plan, known: Known) -> list[int]:
    """The first run of each: of the new model, and of the fix."""
    after = [known.between(when, plan.end_ns).start for when in (plan.release_ns, plan.fix_ns)]
    return [int(starts[0]) for starts in after if len(starts)]


def _confusions(known: Known, start: int, end: int) -> Seen:
    seen = known.between(start, end)
    seen = seen[seen.judged]
    count = int(((seen.expected == REFUND) & (seen.observed == INVOICE)).sum())
    return Seen("breach" if count > 3 else "good", count, len(seen))


def _confused(known: Known, start: int, end: int) -> Seen:
    seen = known.between(start, end)
    wanted = seen[seen.judged & (seen.expected == REFUND)]
    count = int((wanted.observed == INVOICE).sum())
    if len(wanted) < 12:
        return Seen("held" if len(wanted) else "empty", count, len(wanted))
    return Seen("breach" if count > 0.25 * len(wanted) else "good", count, len(wanted))


def _forbidden(known: Known, start: int, end: int) -> Seen:
    seen = known.between(start, end)
    count = int(seen.forbidden.sum())
    return Seen("breach" if count else "good", count, len(seen))


def _none(known: Known, start: int, end: int) -> Seen:
    return Seen("good", 0, len(known.between(start, end)))


def _silence(known: Known, start: int, end: int) -> Seen:
    n = len(known.between(start, end))
    return Seen("good" if n else "breach", n, n)


def _infra(known: Known, start: int, end: int) -> Seen:
    seen = known.between(start, end)
    count = int(seen.infra.sum())
    if len(seen) < 20:
        return Seen("held" if len(seen) else "empty", count, len(seen))
    return Seen("breach" if count > 0.2 * len(seen) else "good", count, len(seen))


def _dearer(known: Known, start: int, end: int) -> Seen:
    now, before = known.between(start, end).cost, known.between(*_earlier(start, end)).cost
    if not len(now):
        return Seen("empty", None, 0)
    if len(now) < 100 or len(before) < 100:
        return Seen("held", None, len(now))
    rise = np.quantile(now, 0.95) / np.quantile(before, 0.95) - 1
    return Seen("breach" if rise >= 0.3 else "good", None, len(now))


def _mix(plan: Plan, known: Known, start: int, end: int) -> Seen:
    now, before = (_firsts(known.between(*bounds)) for bounds in ((start, end), (plan.lead.start_ns, plan.lead.end_ns)))
    n = len(now)
    if n < 100:
        return Seen("held" if n else "empty", None, n)
    names, which = np.unique(np.concatenate([before, now]), return_inverse=True)
    both = np.array([np.bincount(part, minlength=len(names)) for part in (which[: len(before)], which[len(before) :])])
    effect = (chi2_contingency(both, correction=False).statistic / both.sum()) ** 0.5
    p = chi2_contingency(both, correction=False, lambda_="log-likelihood").pvalue
    return Seen("breach" if effect >= 0.15 and p < 0.001 else "good", None, n)


def _firsts(rows: Rows) -> Rows:
    return rows["first"][rows.judged]


def _earlier(start: int, end: int) -> tuple[int, int]:
    """The same times on the wall a week before."""
    back = [pd.Timestamp(t, tz="UTC").tz_convert(ZONE) - pd.DateOffset(days=7) for t in (start, end)]
    return int(back[0].value), int(back[1].value)


def _dropped(now: Counts, before: Counts, least: float, min_count: int) -> Seen:
    (hits, n), (was, m) = now, before
    if n < min_count or m < min_count:
        return Seen("held" if n else "empty", hits, n)
    cells = np.array([[hits, n - hits], [was, m - was]])
    if hits / n > was / m - least or not cells.sum(axis=0).all():
        return Seen("good", hits, n)
    expected = chi2_contingency(cells, correction=False)
    p = fisher_exact(cells).pvalue if expected.expected_freq.min() < 5 else expected.pvalue
    return Seen("breach" if p < 0.001 else "good", hits, n)
