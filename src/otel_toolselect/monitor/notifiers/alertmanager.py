"""Alertmanager, API v2: alerts that begin and end, for it to group, silence and pass on.

An alert is known by its labels: `alertname`, severity, owner, the series; one that says "no data" has `no_data="true"`
as well, so that it and the alert itself come and go apart. Alertmanager forgets an alert when its `endsAt` passes, and
all of them when it restarts. So what fires is sent with an end some minutes ahead, again and again while it stands
(`refresh`); only the end of an alert is sent with its true time.

Several Alertmanagers of one cluster do not pass alerts on to each other: each gets all. One that was away learns the
rest with the next refresh.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import time_ns
from typing import Any, TypeAlias

from otel_toolselect.errors import NotifyError, UsageError
from otel_toolselect.model.alerting import SECOND_NS, Notification
from otel_toolselect.monitor.notifiers import _http
from otel_toolselect.monitor.notifiers._options import Options, address
from otel_toolselect.monitor.notifiers._texts import body, title, value_of

Identity: TypeAlias = tuple[tuple[str, str], ...]
PATH = "/api/v2/alerts"
RESEND_S = 60.0
LONGEST_RESEND_S = 3_600.0
_RESENDS_PER_HOLD = 4
_LEAST_HOLD_S = 600.0  # longer than the longest pause between two attempts
_BEGINS = ("fire", "no_data")
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


@dataclass(frozen=True, slots=True)
class Login:
    """Basic authentication, or headers with a token."""

    basic: tuple[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alertmanager:
    name: str
    urls: tuple[str, ...] = field(repr=False)
    login: Login = field(default_factory=Login, repr=False)
    generator_url: str = ""
    timeout_s: float = 10.0
    refresh_s: float = RESEND_S
    clock: Callable[[], int] = time_ns
    _ended: dict[Identity, Notification] = field(default_factory=dict, repr=False)

    def send(self, notifications: Sequence[Notification]) -> None:
        """What began and ended since is told as ended: the last word on an alert counts."""
        latest = {_identity(n): n for n in notifications}
        for identity, notification in latest.items():
            if notification.kind in _BEGINS:
                self._ended.pop(identity, None)
            else:
                self._ended[identity] = notification
        self._post(list(latest.values()))

    def refresh(self, standing: Sequence[Notification]) -> None:
        """`Refreshing`: what stands, and what ended a short while ago, for those that did not hear of it."""
        oldest = self.clock() - int(self.hold_s * SECOND_NS)
        begun = {_identity(n): n for n in standing}
        for identity in [i for i, n in self._ended.items() if n.at_ns < oldest or i in begun]:
            del self._ended[identity]
        self._post([*begun.values(), *self._ended.values()])

    @property
    def hold_s(self) -> float:
        """How long Alertmanager goes on with an alert that nobody repeats."""
        return max(_LEAST_HOLD_S, _RESENDS_PER_HOLD * self.refresh_s)

    def close(self) -> None:
        pass

    def _post(self, notifications: Sequence[Notification]) -> None:
        """To each. Well when one has taken it; else the failure that gives most hope."""
        if not notifications:
            return
        ahead = self.clock() + int(self.hold_s * SECOND_NS)
        text = json.dumps([self._alert(n, ahead) for n in notifications]).encode()
        failures: list[NotifyError] = []
        for url in self.urls:
            try:
                _http.post(url, text, self.login.headers, self.timeout_s, self.login.basic)
            except NotifyError as error:
                failures.append(error)
        if len(failures) == len(self.urls):
            raise max(failures, key=lambda error: error.retryable)

    def _alert(self, n: Notification, ahead_ns: int) -> dict[str, Any]:
        ends = ahead_ns if n.kind in _BEGINS else max(n.at_ns, n.since_ns)
        made = {
            "labels": dict(_identity(n)),
            "annotations": _annotations(n),
            "startsAt": _time(min(n.since_ns, ends)),
            "endsAt": _time(ends),
        }
        return made | ({"generatorURL": self.generator_url} if self.generator_url else {})


def _identity(n: Notification) -> Identity:
    gap = {"no_data": "true"} if n.kind in ("no_data", "data_back") else {}
    own = {"alertname": n.alert, "severity": n.severity, "owner": n.owner or "", **gap}
    others = ((name, value) for name, value in n.labels.items() if name != "alert")
    return tuple(sorted(_named([*own.items(), *others]).items()))


def _annotations(n: Notification) -> dict[str, str]:
    own = {"summary": title(n), "description": body(n), "value": value_of(n), "runbook_url": n.runbook or ""}
    return _named([*n.annotations.items(), *own.items()])


def _named(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names as Prometheus has them: of two that become one the first counts. An empty value is none."""
    found: dict[str, str] = {}
    for name, value in pairs:
        safe = _NOT_IN_A_NAME.sub("_", name)
        safe = f"_{safe}" if not safe or safe[0].isdigit() else safe
        if value:
            found.setdefault(safe, value.encode("utf-8", "replace").decode())
    return found


def _time(time_ns: int) -> str:
    """RFC 3339, with all nine digits."""
    whole, rest = divmod(time_ns, SECOND_NS)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


class _Kind:
    name = "alertmanager"

    def make(self, name: str, options: Mapping[str, Any]) -> Alertmanager:
        _http.require_httpx()
        given = Options(options)
        urls = given.texts("url")
        if not urls:
            raise UsageError('url is missing; write url = "http://alertmanager:9093", or a list of all of a cluster')
        made = Alertmanager(
            name,
            tuple(address("url", url).removesuffix(PATH) + PATH for url in urls),
            _login(given),
            given.text("generator_url"),
            given.timeout(),
            given.seconds("resend", RESEND_S, LONGEST_RESEND_S),
        )
        given.done()
        return made


def _login(given: Options) -> Login:
    user, password, token = given.text("user"), given.text("password"), given.text("token")
    if token and (user or password):
        raise UsageError("there is a token, and a user or password: which of them?")
    if bool(user) != bool(password):
        raise UsageError("user and password belong together")
    return Login((user, password) if user else None, {"authorization": f"Bearer {token}"} if token else {})


PLUGIN = _Kind()
