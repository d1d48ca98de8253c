"""`alerts: NAME` files -> typed alerts, every mistake with file, line, column and a way out (issue F; docs/alerts.md).

    alerts: support
    version: 3
    defaults:                          # for every alert that does not say otherwise
      window: {size: 5m, zone: Europe/Berlin, lateness: 2m}
      owner: agents-team
    list:
      - id: wrong-tool
        signal: wrong_tool             # see `model.signals`
        of: {policy: shop-safety, agent: support}
        condition: {above: 0.1}
        min_count: 20                  # of observations in the window; fewer decide nothing
        no_data_after: 15m
        for: 10m
        keep_firing: 10m
        severity: critical             # info | warning | critical; warning without it
        annotations: {summary: "{value} of the runs of {agent} chose a wrong tool"}

`window` and `labels` of the defaults are merged key by key. Defaults that a signal has no use for (`min_count` and
`no_data_after` of a count) do not reach it; written at the alert itself they are a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otel_toolselect.errors import SuiteError
from otel_toolselect.model.alerting import SEVERITIES, Alert, AlertFile, Scope
from otel_toolselect.model.signals import SIGNALS, Signal
from otel_toolselect.rules._nodes import Fields, Node, Scalar, clip
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.alertconditions import parse_condition
from otel_toolselect.rules.alertparts import (
    Found,
    parse_annotations,
    parse_by,
    parse_labels,
    parse_scope,
    parse_window,
    window_fields,
)
from otel_toolselect.rules.durations import parse_length
from otel_toolselect.rules.loader import read_text
from otel_toolselect.rules.problems import Problems

KEYS = ("alerts", "version", "defaults", "list")
DEFAULT_KEYS = (
    "window",
    "min_count",
    "no_data_after",
    "for",
    "keep_firing",
    "severity",
    "owner",
    "runbook",
    "labels",
    "annotations",
)
ALERT_KEYS = ("id", "signal", "of", "by", "condition", *DEFAULT_KEYS)
MIN_COUNT = 20
"""Observations that an alert needs when it does not say: one wrong run of one is 100 %, and no incident."""
_MERGED = ("window", "labels", "annotations")
_SYNONYMS = {
    "name": "id",
    "alert": "id",
    "metric": "signal",
    "match": "of",
    "filter": "of",
    "group_by": "by",
    "threshold": "condition",
    "min_n": "min_count",
    "level": "severity",
    "team": "owner",
    "keep_firing_for": "keep_firing",
    "description": "annotations",
    "runbook_url": "runbook",
}


def load_alerts(path: str | Path) -> AlertFile:
    """Raises SuiteError with every problem, InputError when the file cannot be read."""
    return parse_alerts(read_text(path), path=str(path))


def parse_alerts(text: str, *, path: str) -> AlertFile:
    problems = Problems(path)
    made = _file(read_yaml(text.removeprefix("\ufeff"), problems), path, problems)
    if problems.found:
        raise SuiteError(list(dict.fromkeys(problems.found)))
    return made


def _file(root: Node | None, path: str, problems: Problems) -> AlertFile:
    empty = AlertFile("", (), path=path)
    if root is None:
        if not problems.found:
            problems.at(1, 1, "the file is empty", "write alerts: NAME and list: [...]")
        return empty
    found = problems.fields(
        root, "the alerts", KEYS, synonyms={"rules": "list", "cases": "list", "default": "defaults"}
    )
    if found is None:
        return empty
    name = _text(found, "alerts", problems)
    if "alerts" not in found:
        problems.add(root, "the alerts have no name", "write alerts: NAME")
    version = _text(found, "version", problems) or ""
    defaults = (
        problems.fields(found["defaults"][1], "defaults", DEFAULT_KEYS, synonyms=_SYNONYMS)
        if "defaults" in found
        else {}
    )
    entries = problems.items(found["list"][1], "list", example="[{id: ..., signal: ...}]") if "list" in found else ()
    if not entries:
        at = found["list"][1] if "list" in found else root
        problems.add(at, "the file has no alert", "write list: [{id: ..., signal: ..., window: 5m, condition: {...}}]")
    alerts: dict[str, Alert] = {}
    for entry in entries:
        alert = _alert(entry, defaults or {}, problems)
        if alert is not None and alert.id in alerts:
            at = (entry.get("id") if isinstance(entry, Fields) else None) or entry
            said = f"the alert id {clip(alert.id)!r} stands twice"
            problems.add(at, said, f"first on line {alerts[alert.id].line}; ids are unique")
        elif alert is not None:
            alerts[alert.id] = alert
    return AlertFile(name or "", tuple(alerts.values()), version, path)


def _alert(node: Node, defaults: Found, problems: Problems) -> Alert | None:
    own = problems.fields(node, "an alert", ALERT_KEYS, synonyms=_SYNONYMS)
    if own is None:
        return None
    for key, way in (("id", "write id: NAME"), ("signal", "write signal: accuracy, or another of docs/alerts.md")):
        if key not in own:
            problems.add(node, f"an alert has no {key}", way)
    alert_id = _text(own, "id", problems)
    word = problems.choice(own["signal"][1], "signal", SIGNALS) if "signal" in own else None
    found = {**{k: v for k, v in defaults.items() if k not in _MERGED}, **own}
    windows = {**_window_of(defaults, problems), **_window_of(own, problems)}
    window = parse_window(windows, own["window"][1] if "window" in own else node, problems)
    scope = parse_scope(own["of"][1], problems) if "of" in own else Scope()
    by = parse_by(own["by"][1], problems) if "by" in own else ()
    labels = {**_labels(defaults, problems), **_labels(own, problems)}
    names = (*by, *labels)
    annotations = {**_annotations(defaults, names, problems), **_annotations(own, names, problems)}
    telling = _telling(found, problems)
    if word is None:
        return None  # what follows depends on the signal
    signal = SIGNALS[word]
    condition_node = own["condition"][1] if "condition" in own else None
    condition = parse_condition(condition_node, node, signal, window.size if window else None, problems)
    _fits(signal, scope, by, own, node, problems)
    min_count, gap = _guards(signal, own, defaults, problems)
    if alert_id is None or window is None or condition is None:
        return None
    return Alert(
        id=alert_id,
        signal=signal.name,
        window=window,
        condition=condition,
        of=scope,
        by=by,
        min_count=min_count,
        no_data_after_ns=gap,
        labels=labels,
        annotations=annotations,
        line=node.line,
        **telling,
    )


def _telling(found: Found, problems: Problems) -> dict[str, Any]:
    """Fields of an alert that say when and whom it tells."""
    severity = problems.choice(found["severity"][1], "severity", SEVERITIES) if "severity" in found else None
    return {
        "for_ns": _length(found, "for", problems) or 0,
        "keep_firing_ns": _length(found, "keep_firing", problems) or 0,
        "severity": severity or "warning",
        "owner": _text(found, "owner", problems),
        "runbook": _text(found, "runbook", problems),
    }


def _fits(signal: Signal, scope: Scope, by: tuple[str, ...], own: Found, node: Node, problems: Problems) -> None:
    """What the signal must be told, and what says nothing of it."""
    at = own["of"][1] if "of" in own else node
    if "pair" in signal.needs and scope.pair is None:
        problems.add(at, f"{signal.name} is about a pair", "write of: {pair: {expected: TOOL, observed: TOOL}}")
    if "tool" in signal.needs and not scope.tool and "tool" not in by:
        problems.add(at, f"{signal.name} is about a tool", "write of: {tool: NAME}, or by: [tool] for each of them")
    if scope.pair is not None and "pair" not in signal.needs:
        problems.add(at, f"a pair says nothing of {signal.name}", "take it out, or write signal: confusion_share")
    if "tool" in by and not signal.per_tool:
        said = f"{signal.name} is a figure of whole runs, not of a tool"
        problems.add(own["by"][1], said, "split it by agent or model")
    if scope.tool and not signal.per_tool:
        problems.add(at, f"{signal.name} is no figure of a tool", _per_tool_instead(signal))


def _per_tool_instead(signal: Signal) -> str:
    per_tool = ", ".join(name for name, s in SIGNALS.items() if s.per_tool and s.kind == signal.kind)
    return f"per tool there are {per_tool}" if per_tool else "take the tool out"


def _guards(signal: Signal, own: Found, defaults: Found, problems: Problems) -> tuple[int, int | None]:
    """min_count and no_data_after: of a count neither, for none is a number like any other."""
    if signal.empty_is_zero:
        for key in ("min_count", "no_data_after"):
            if key in own:
                said = f"{signal.name} is a count, which is 0 when there is nothing: {key} has no use"
                problems.add(own[key][0], said, "take it out; to hear of silence write signal: no_data")
        own = {}
    found = {**defaults, **own}
    least = problems.whole(found["min_count"][1], "min_count", least=1) if "min_count" in found else MIN_COUNT
    gap = _length(found, "no_data_after", problems)
    if gap == 0:
        problems.add(found["no_data_after"][1], "no_data_after cannot be 0", "write 15m")
    return (0, None) if signal.empty_is_zero else (least or 0, gap)


def _window_of(found: Found, problems: Problems) -> Found:
    return window_fields(found["window"][1], problems) if "window" in found else {}


def _labels(found: Found, problems: Problems) -> Mapping[str, str]:
    return parse_labels(found["labels"][1], problems) if "labels" in found else {}


def _annotations(found: Found, names: tuple[str, ...], problems: Problems) -> Mapping[str, str]:
    return parse_annotations(found["annotations"][1], names, problems) if "annotations" in found else {}


def _length(found: Mapping[str, tuple[Scalar, Node]], key: str, problems: Problems) -> int | None:
    return parse_length(found[key][1], key, problems) if key in found else None


def _text(found: Found, key: str, problems: Problems) -> str | None:
    return problems.text(found[key][1], key) if key in found else None
