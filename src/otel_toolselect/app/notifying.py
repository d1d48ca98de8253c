"""Wiring of test messages: are notifications going to arrive? (issue F point 6)"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect.config import Monitor, NotifyTarget
from otel_toolselect.errors import NotifyError, UsageError
from otel_toolselect.model.alerting import SECOND_NS, Notification

if TYPE_CHECKING:
    from otel_toolselect.monitor.notifiers import Notifier

ALERT = "toolselect-test"


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a test message at one target. `said` is empty when it was taken."""

    name: str
    type: str
    seconds: float
    said: str = ""
    retryable: bool = False

    @property
    def arrived(self) -> bool:
        return not self.said


def send_tests(settings: Monitor, name: str = "") -> list[Tried]:
    """One message to every target, or to the named one, in one attempt each. Raises UsageError for targets with
    mistakes and for a name that there is not.
    """
    from otel_toolselect.monitor import notifiers

    known = [target.name for target in settings.notify]
    if not known:
        raise UsageError("there is nobody to notify; write [[monitor.notify]] with a type into toolselect.toml")
    if name and name not in known:
        raise UsageError(f"no target is called {name!r}; there are: {', '.join(known)}")
    chosen = [target for target in settings.notify if name in ("", target.name)]
    made = [(target, notifiers.make(target, os.environ)) for target in chosen]
    return [_tried(target, notifier) for target, notifier in made]


def _tried(target: NotifyTarget, notifier: Notifier) -> Tried:
    begun = time.monotonic()
    try:
        notifier.send([sample(time.time_ns())])
        said, retryable = "", False
    except NotifyError as error:
        said, retryable = str(error), error.retryable
    finally:
        notifier.close()
    return Tried(target.name, target.type, time.monotonic() - begun, said, retryable)


def sample(now_ns: int) -> Notification:
    """A message that cannot be taken for a real one, of the least severity. Every one has a key of its own."""
    labels = {"alert": ALERT, "signal": "test", "severity": "info"}
    return Notification(
        key=f"{ALERT}{{}}#{now_ns}", alert=ALERT, series=(), change=1, kind="fire", at_ns=now_ns, since_ns=now_ns,
        start_ns=now_ns - 300 * SECOND_NS, end_ns=now_ns, signal="test", unit="share", value=0.15, numerator=3, n=20,
        says="a test of the way that notifications go; nothing is wrong", severity="info", labels=labels,
    )  # fmt: skip
