"""What monitors say to people and programs: where alerts stand, what they told, what they would have done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from otel_toolselect.model.alerting import SECOND_NS, Matcher, Series, Silence
from otel_toolselect.model.monitoring import AlertStatus, Episode, Replayed, RuleDay
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.store.alert_api import Sending

_STATES: dict[str, Style] = {"firing": "bad", "pending": "warn", "no_data": "warn", "new": "dim", "inactive": "good"}
_OUTCOMES: dict[str, Style] = {"delivered": "good", "dead": "bad", "silenced": "dim", "unrouted": "warn"}


def statuses_table(found: Sequence[AlertStatus], *, colour: bool, width: int) -> str:
    return paint(_statuses(found), colour=colour, width=width)


def statuses_json(found: Sequence[AlertStatus]) -> str:
    rows = [
        {
            "alert": s.alert,
            "series": dict(s.series),
            "state": s.state,
            "since": _time(s.since_ns),
            "window_end": _time(s.through_ns),
            "value": s.value,
            "numerator": s.numerator,
            "n": s.n,
            "says": s.says,
            "severity": s.severity,
            "owner": s.owner,
            "waiting": s.waiting,
            "withheld": s.withheld,
            "defined": s.defined,
        }
        for s in found
    ]
    return dumps({"schema": "toolselect.monitor.status/1", "alerts": rows}, indent=2) + "\n"


def _statuses(found: Sequence[AlertStatus]) -> Iterator[Block]:
    if not found:
        yield Line("no alert was evaluated yet; start `toolselect monitor run`, or name alert files", "warn")
        return
    rows = []
    for s in found:
        words = (s.alert, _labels(s.series), s.state, _time(s.since_ns) or "-", s.shown, _time(s.through_ns) or "-")
        style = _STATES.get(s.state, "")
        rows.append(tuple(Cell(word, style if i == 2 else "") for i, word in enumerate((*words, s.severity or "-"))))
    titles = ("alert", "series", "state", "since", "last value", "window end", "severity")
    yield Grid(tuple(Column(title) for title in titles), tuple(rows), indent=0)
    for s in found:
        if s.state in ("firing", "pending", "no_data"):
            yield Line(f"{_named(s.alert, s.series)}: {s.says}", _STATES[s.state])
    waiting, withheld = sum(s.waiting for s in found), sum(s.withheld for s in found)
    if waiting or withheld:
        yield Line(f"{waiting} notifications wait to be delivered, {withheld} are held back by silences", "warn")


def sendings_table(found: Sequence[Sending], *, colour: bool, width: int) -> str:
    return paint(_sendings(found), colour=colour, width=width)


def sendings_json(found: Sequence[Sending]) -> str:
    """JSON lines, newest first; the whole notification is in each."""
    import json

    return "".join(
        dumps(
            {
                "key": s.key,
                "receiver": s.receiver,
                "outcome": s.outcome,
                "settled": _time(s.settled_ns),
                "attempts": s.attempts,
                "error": s.error,
                "notification": json.loads(s.record),
            }
        )
        + "\n"
        for s in found
    )


def _sendings(found: Sequence[Sending]) -> Iterator[Block]:
    if not found:
        yield Line("nothing was told")
        return
    rows = []
    for s in found:
        words = (_time(s.at_ns) or "-", s.alert, s.kind, s.receiver or "-", s.outcome, s.error or s.says)
        style = _OUTCOMES.get(s.outcome, "")
        rows.append(tuple(Cell(word, style if i == 4 else "") for i, word in enumerate(words)))
    titles = ("window end", "alert", "kind", "receiver", "outcome", "says")
    yield Grid(tuple(Column(title) for title in titles), tuple(rows), indent=0)


def silences_table(found: Sequence[Silence], now_ns: int, *, colour: bool, width: int) -> str:
    return paint(_silences(found, now_ns), colour=colour, width=width)


def silences_json(found: Sequence[Silence], now_ns: int) -> str:
    rows = [
        {
            "id": s.id,
            "match": {m.name: m.equals if m.pattern is None else f"/{m.pattern}/" for m in s.matchers},
            "from": _time(s.from_ns),
            "until": _time(s.until_ns),
            "active": s.from_ns <= now_ns < s.until_ns,
            "by": s.by,
            "comment": s.comment,
        }
        for s in found
    ]
    return dumps(rows, indent=2) + "\n"


def _silences(found: Sequence[Silence], now_ns: int) -> Iterator[Block]:
    if not found:
        yield Line("no silences")
        return
    rows = []
    for s in found:
        active = "ended" if s.until_ns <= now_ns else "active" if s.from_ns <= now_ns else "to come"
        words = (s.id, active, _time(s.from_ns) or "-", _time(s.until_ns) or "-", _match(s.matchers), s.by, s.comment)
        rows.append(tuple(Cell(word, "dim" if active == "ended" else "") for word in words))
    titles = ("id", "state", "from", "until", "match", "by", "comment")
    yield Grid(tuple(Column(title) for title in titles), tuple(rows), indent=0)


def backtest_table(alerts: Sequence[Replayed], rules: Sequence[RuleDay], *, colour: bool, width: int) -> str:
    return paint([*_replayed(alerts), *_rule_days(rules)], colour=colour, width=width)


def backtest_json(alerts: Sequence[Replayed], rules: Sequence[RuleDay], since_ns: int, until_ns: int) -> str:
    document = {
        "schema": "toolselect.monitor.backtest/1",
        "since": _time(since_ns),
        "until": _time(until_ns),
        "alerts": [
            {
                "alert": a.alert,
                "series": a.series,
                "windows": {
                    "n": a.windows,
                    "breached": a.breached,
                    "good": a.good,
                    "held": a.held,
                    "empty": a.empty,
                },
                "episodes": [_episode(e) for e in a.episodes],
            }
            for a in alerts
        ],
        "rules": rules,
    }
    return dumps(document, indent=2) + "\n"


def _episode(e: Episode) -> dict[str, Any]:
    return {
        "series": dict(e.series),
        "kind": e.kind,
        "began": _time(e.began_ns),
        "ended": _time(e.ended_ns),
        "seconds": e.lasted_ns // SECOND_NS,
        "value": e.shown,
        "n": e.n,
        "severity": e.severity,
        "says": e.says,
    }


def _replayed(alerts: Sequence[Replayed]) -> Iterator[Block]:
    if not alerts:
        return
    yield Heading("alerts")
    titles = ("alert", "series", "windows", "breached", "good", "held", "empty", "would have fired", "for")
    rows = []
    for a in alerts:
        fires = [e for e in a.episodes if e.kind == "fire"]
        lasted = _length(sum(e.lasted_ns for e in fires)) if fires else "-"
        counts = (a.series, a.windows, a.breached, a.good, a.held, a.empty, len(fires))
        rows.append((Cell(a.alert, "bad" if fires else ""), *(Cell(str(n)) for n in counts), Cell(lasted)))
    yield Grid(tuple(Column(title, i > 0) for i, title in enumerate(titles)), tuple(rows))
    episodes = sorted((e for a in alerts for e in a.episodes), key=lambda e: (e.began_ns, e.alert, e.series))
    if not episodes:
        yield Line("no alert would have fired", "good", 2)
        return
    yield Heading("what would have been told")
    for e in episodes:
        ended = f"until {_time(e.ended_ns)}" if e.ended_ns is not None else "not over at the end"
        head = f"{_time(e.began_ns)}  {_named(e.alert, e.series)} {e.kind}, for {_length(e.lasted_ns)}, {ended}"
        yield Line(head, "bad" if e.kind == "fire" else "warn", 2)
        yield Line(e.says, "dim", 4)


def _rule_days(rules: Sequence[RuleDay]) -> Iterator[Block]:
    if not rules:
        return
    yield Heading("rules by day")
    titles = ("day", "file", "rule", "severity", "runs", "failed", "needs review", "excluded")
    rows = tuple(
        (
            *(Cell(word) for word in (r.day, r.file, r.rule, r.severity, str(r.runs))),
            Cell(f"{r.failed}", "bad" if r.failed else "good"),
            Cell(f"{r.needs_review}", "warn" if r.needs_review else ""),
            Cell(str(r.excluded)),
        )
        for r in sorted(rules, key=lambda r: (r.day, r.file))
    )
    yield Grid(tuple(Column(title, i > 3) for i, title in enumerate(titles)), rows)


def _named(alert: str, series: Series) -> str:
    return f"{alert} ({_labels(series)})" if series else alert


def _labels(series: Series) -> str:
    return ", ".join(f"{name}={value or '-'}" for name, value in series) or "-"


def _match(matchers: Sequence[Matcher]) -> str:
    return " ".join(f"{m.name}={m.equals}" if m.pattern is None else f"{m.name}=/{m.pattern}/" for m in matchers)


def _time(time_ns: int | None) -> str | None:
    return f"{datetime.fromtimestamp(time_ns // SECOND_NS, UTC):%Y-%m-%dT%H:%M:%SZ}" if time_ns else None


def _length(ns: int) -> str:
    """As people say it: 95 minutes are 1h35m."""
    minutes, seconds = divmod(ns // SECOND_NS, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [f"{n}{unit}" for n, unit in ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s")) if n]
    return "".join(parts[:2]) or "0s"
