"""Which notification is for whom: the conditions of `[[monitor.notify]]`, all of which must fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import re2

from otel_toolselect.config import NotifyTarget
from otel_toolselect.errors import UsageError
from otel_toolselect.model.alerting import Matcher, Notification, Silence
from otel_toolselect.monitor.alerts.silences import fits
from otel_toolselect.rules.patterns import compile_text


@dataclass(frozen=True, slots=True)
class Route:
    """To one target. `labels`: none fits everything."""

    name: str
    severity: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    labels: tuple[Matcher, ...] = ()

    def takes(self, notification: Notification) -> bool:
        if self.severity and notification.severity not in self.severity:
            return False
        if self.owner and (notification.owner or "") not in self.owner:
            return False
        # a silence without matchers fits nothing, a route without them everything
        return not self.labels or fits(Silence("", self.labels, 0, 0, ""), notification.labels)


def route_to(target: NotifyTarget) -> Route:
    """Raises UsageError on a pattern that RE2 does not know."""
    matchers = tuple(_matcher(target.name, name, value) for name, value in target.labels)
    return Route(target.name, target.severity, target.owner, matchers)


def receivers(routes: Sequence[Route], notification: Notification) -> tuple[str, ...]:
    return tuple(route.name for route in routes if route.takes(notification))


def _matcher(target: str, name: str, value: str) -> Matcher:
    if len(value) < 2 or not (value.startswith("/") and value.endswith("/")):
        return Matcher(name, equals=value)
    try:
        compile_text(value[1:-1])
    except re2.error as error:
        raise UsageError(f"monitor.notify {target}: the pattern of label {name} is not RE2: {value}") from error
    return Matcher(name, pattern=value[1:-1])
