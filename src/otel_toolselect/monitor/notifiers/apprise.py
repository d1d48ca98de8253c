"""Apprise: Slack, e-mail, PagerDuty and a hundred others, each by an address (https://appriseit.com/services/).

Addresses hold tokens: they come from the environment or a file, and none is ever shown. Each address of a target is a
receiver of its own: when one fails, the others are not told again. Apprise says why in words only; of these the HTTP
status alone is read, which may hold nothing secret.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from otel_toolselect.errors import NotifyError, UsageError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.monitor.notifiers._http import refusal
from otel_toolselect.monitor.notifiers._options import Options
from otel_toolselect.monitor.notifiers._texts import Message, message

if TYPE_CHECKING:
    from apprise import Apprise

_STATUS = re.compile(r"error=(\d{3})\b")
_LOGGER = "apprise"


@dataclass(frozen=True, slots=True)
class Service:
    """One address. `shown`: its place in the list and what it is, say `2 (Slack)`."""

    shown: str
    apprise: Apprise = field(repr=False)

    def send(self, told: Message, kind: str) -> None:
        """Raises NotifyError."""
        result = self.apprise.notify(title=told.title, body=told.body, notify_type=kind, body_format="text")
        if result:
            return
        place = f"address {self.shown}"
        entries: Iterable[Any] = getattr(result, "logs", tuple)()  # a plain False before Apprise 2
        found = [found[1] for entry in entries if (found := _STATUS.search(str(entry.message)))]
        raise refusal(place, int(found[-1])) if found else NotifyError(f"{place} failed", retryable=True)


@dataclass(frozen=True, slots=True)
class Services:
    """`_took`: which addresses have a notification that others still lack, by key."""

    name: str
    services: tuple[Service, ...]
    steady_title: bool = False
    _took: dict[str, set[int]] = field(default_factory=dict, repr=False)

    def send(self, notifications: Sequence[Notification]) -> None:
        failures: list[NotifyError] = []
        done: list[str] = []
        for notification in notifications:
            failed = self._failures(notification)
            failures += failed
            if not failed:
                self._took.pop(notification.key, None)
                done.append(notification.key)
        if failures:
            again = any(error.retryable for error in failures)
            raise NotifyError(str(failures[0]), retryable=again, delivered=done)

    def _failures(self, notification: Notification) -> list[NotifyError]:
        took = self._took.setdefault(notification.key, set())
        told, kind = message(notification, steady_title=self.steady_title), _type(notification)
        failures: list[NotifyError] = []
        for i, service in enumerate(self.services):
            if i not in took:
                try:
                    service.send(told, kind)
                    took.add(i)
                except NotifyError as error:
                    failures.append(error)
        return failures

    def close(self) -> None:
        pass


def _type(n: Notification) -> str:
    """By which Apprise picks colours and urgency; "success" resolves where a service knows incidents."""
    if n.kind in ("resolve", "data_back"):
        return "success"
    return {"critical": "failure", "warning": "warning"}.get(n.severity, "info")


class _Kind:
    name = "apprise"

    def make(self, name: str, options: Mapping[str, Any]) -> Services:
        if find_spec("apprise") is None:
            raise UsageError("this type needs Apprise: pip install 'otel-toolselect[notify]'")
        given = Options(options)
        urls, steady = given.texts("urls"), given.switch("steady_title")
        given.done()
        if not urls:
            raise UsageError('urls is missing; write urls = {env = "APPRISE_URLS"}, or {file = "/run/secrets/urls"}')
        _hush()
        return Services(name, tuple(_service(i, url) for i, url in enumerate(urls, 1)), steady)


def _service(number: int, url: str) -> Service:
    from apprise import Apprise, AppriseAsset

    made = Apprise(asset=AppriseAsset(app_id="toolselect", app_desc="toolselect", app_url=""))
    if not made.add(url) or len(made) != 1:
        raise UsageError(f"urls: the address {number} is none that Apprise knows; see https://appriseit.com/services/")
    return Service(f"{number} ({made[0].service_name})", made)


def _hush() -> None:
    """Apprise logs addresses and what services answer; our log holds neither."""
    logger = logging.getLogger(_LOGGER)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


PLUGIN = _Kind()
