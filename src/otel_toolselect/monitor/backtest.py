"""Alerts and rules carried out on history (issue F point 2): what would have fired, when, and for how long.

Alerts go through the ordinary evaluation, window by window, from a state that knows nothing, and nothing is stored or
sent. Data are as they stand now: what came late then is in its window here, silences do not hold anything back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from otel_toolselect.judge.policies import judge_rules
from otel_toolselect.model.alerting import SECOND_NS, Alert, AlertState, Notification, Observed, Series
from otel_toolselect.model.monitoring import Episode, Replayed, RuleDay
from otel_toolselect.model.rulings import overall
from otel_toolselect.model.runs import Run
from otel_toolselect.monitor.alerts import Source, acknowledged, evaluate, with_known
from otel_toolselect.monitor.alerts.deciding import decide
from otel_toolselect.monitor.alerts.wording import shown
from otel_toolselect.rules.rulefiles import RuleFile
from otel_toolselect.stats.windows import Windows, zone_named

PAGE = 96
_ENDS = {"resolve": "fire", "data_back": "no_data"}


def replay(alert: Alert, source: Source, since_ns: int, until_ns: int) -> Replayed:
    """The alert over the whole windows in [since, until). Raises what the source raises."""
    cut = Windows(alert.window)
    windows = (w for w in cut.closed(since_ns, until_ns + alert.window.lateness_ns) if w.start_ns >= since_ns)
    states: dict[Series, AlertState] = {}
    news: list[Notification] = []
    kinds: Counter[str] = Counter()
    last_ns = since_ns
    while part := list(islice(windows, PAGE)):
        last_ns = part[-1].end_ns
        for series, observed in with_known(alert.query, part, source.observe(alert.query, part), states).items():
            kept = observed if series in states or not alert.by else _from_first(observed)
            if not kept:
                continue
            kinds.update(decide(alert, o).kind for o in kept)
            state, made = evaluate(alert, states.get(series), kept, last_ns, series=series)
            states[series] = acknowledged(state, {n.key for n in state.outbox})
            news += made
    return Replayed(
        alert.id,
        len(states),
        kinds.total(),
        kinds["breach"],
        kinds["good"],
        kinds["held"],
        kinds["empty"],
        tuple(_episodes(news, last_ns)),
    )


def _from_first(observed: Sequence[Observed]) -> Sequence[Observed]:
    first = next((i for i, window in enumerate(observed) if window.n), len(observed))
    return observed[first:]


def _episodes(news: Iterable[Notification], last_ns: int) -> Iterator[Episode]:
    open_: dict[tuple[Series, str], Notification] = {}
    found: list[Episode] = []
    for n in news:
        begun = open_.pop((n.series, _ENDS.get(n.kind, "")), None)
        if begun is not None:
            found.append(_episode(begun, n.at_ns, last_ns))
        elif n.kind not in _ENDS:
            open_[n.series, n.kind] = n
    found += [_episode(begun, None, last_ns) for begun in open_.values()]
    yield from sorted(found, key=lambda e: (e.began_ns, e.series, e.kind))


def _episode(begun: Notification, ended_ns: int | None, last_ns: int) -> Episode:
    value = shown(begun.value, begun.unit, n=begun.n, numerator=begun.numerator)
    return Episode(
        begun.alert,
        begun.series,
        begun.kind,
        begun.at_ns,
        ended_ns,
        last_ns,
        value,
        begun.n,
        begun.says,
        begun.severity,
    )


def rules_by_day(pages: Iterable[Sequence[Run]], files: Sequence[RuleFile], zone: str) -> list[RuleDay]:
    """How often each rule would have failed, by day of the zone in which a run started; days without a match are left
    out. Raises ValueError on a zone that is none.
    """
    where = zone_named(zone)
    found: dict[tuple[int, int, str], Counter[str]] = {}
    places = {(f, rule.id): r for f, file in enumerate(files) for r, rule in enumerate(file.rules)}
    for runs in pages:
        for f, file in enumerate(files):
            for ruling in judge_rules(runs, file).rulings:
                started = datetime.fromtimestamp(ruling.verdict.start_ns // SECOND_NS, where)
                counts = found.setdefault((f, places[f, ruling.rule], f"{started:%Y-%m-%d}"), Counter())
                counts.update(("runs", overall(ruling.verdict)))
    return [
        RuleDay(
            files[f].name,
            files[f].rules[r].id,
            files[f].rules[r].severity,
            day,
            counts["runs"],
            counts["fail"],
            counts["needs_review"],
            counts["excluded"],
        )
        for (f, r, day), counts in sorted(found.items())
    ]
