"""Silences: which alerts they hold back, and when.

A matcher looks at one label of the alert's series: `alert` (the id), `signal`, `severity`, `owner`, the values of its
`by`, and its own labels (which never hide the former). `equals` compares texts, `pattern` is RE2 and found anywhere in
the value; a label that the series lacks is the empty text. All matchers must fit; a silence without any fits nothing,
so that a slip of the pen does not silence everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from otel_toolselect.model.alerting import Alert, Matcher, Series, Silence
from otel_toolselect.rules.patterns import Pattern, compile_text


def labels_of(alert: Alert, series: Series) -> dict[str, str]:
    """All labels by which one series of an alert is known: to silences, and to notifiers for routing."""
    own = {"alert": alert.id, "signal": alert.signal, "severity": alert.severity}
    own |= {"owner": alert.owner} if alert.owner else {}
    return {**alert.labels, **dict(series), **own}


def silenced(silences: Iterable[Silence], labels: Mapping[str, str], now_ns: int) -> Silence | None:
    """The silence that holds these labels back now: of several the one that ends last."""
    active = [s for s in silences if s.from_ns <= now_ns < s.until_ns and fits(s, labels)]
    return max(active, key=lambda s: (s.until_ns, s.id), default=None)


def fits(silence: Silence, labels: Mapping[str, str]) -> bool:
    return bool(silence.matchers) and all(_fits(m, labels.get(m.name, "")) for m in silence.matchers)


def _fits(matcher: Matcher, value: str) -> bool:
    if matcher.equals is not None:
        return value == matcher.equals
    return matcher.pattern is not None and _compiled(matcher.pattern).search(value) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Pattern:
    return compile_text(pattern)
