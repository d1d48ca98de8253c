"""Notifiers: where notifications of alerts go, one module a kind (issue F point 6).

A module defines one `PLUGIN`, a `Kind`. Each `[[monitor.notify]]` table of the settings makes one `Notifier` of the
kind that its `type` names:

    [[monitor.notify]]
    name = "on-call"                      # in messages and in the history; the type without it
    type = "webhook"
    severity = ["critical"]               # which notifications: all conditions must fit, none given takes everything
    owner = ["payments"]
    labels = {tool = "/refund|invoice/"}  # equal, or RE2 between slashes; labels of `monitor.alerts.silences`
    url = "https://hooks.example.com/x"   # everything else is the kind's own option
    secret = {env = "ON_CALL_SECRET"}     # and may come from the environment, or from a file: {file = "/run/secrets/x"}

Who calls a notifier (`monitor.delivery`) routes, batches, tries again, and remembers what was delivered; a notifier
makes one attempt and says how it went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from otel_toolselect.config import NotifyTarget
from otel_toolselect.errors import UsageError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.registry import discover

__all__ = ["Kind", "Notifier", "Refreshing", "kinds", "make"]


@runtime_checkable
class Notifier(Protocol):
    """One receiver, ready to send."""

    @property
    def name(self) -> str:
        """The target's name, as in the settings."""
        ...

    def send(self, notifications: Sequence[Notification]) -> None:
        """Deliver these, oldest first, in one attempt of bounded time (10 seconds unless the target says otherwise).

        Returns when the receiver has taken all of them. Raises NotifyError otherwise: `retryable` True when the same
        call may succeed later (the receiver is away, slow, or says "too many": then with `retry_after_s`), False when
        it never will (refused, bad credentials); `delivered` holds the keys of those that were taken all the same.
        Nothing else is raised on purpose. A text of an error holds neither secrets nor labels. After a crash the same
        notifications may come again, with the same keys: pass the key on, so that a receiver can drop the second.
        """
        ...

    def close(self) -> None:
        """Let go of connections; nothing is sent after it."""
        ...


@runtime_checkable
class Refreshing(Protocol):
    """What a notifier has besides when its receiver forgets alerts that are not repeated."""

    @property
    def refresh_s(self) -> float:
        """Seconds between two calls."""
        ...

    def refresh(self, standing: Sequence[Notification]) -> None:
        """Tell these again: each was sent, or is about to be, and its end was not. Also called when there are none.

        Called by the thread that sends, never at the same time. One attempt, like `send`; what fails is left to the
        next call.
        """
        ...


class Kind(Protocol):
    """The `PLUGIN` of a module."""

    @property
    def name(self) -> str:
        """What `type` says in the settings."""
        ...

    def make(self, name: str, options: Mapping[str, Any]) -> Notifier:
        """A notifier with a target's name and its own options, values as TOML has them. Opens no connection.

        Raises UsageError on a missing, unknown or wrong option, naming it.
        """
        ...


def kinds() -> dict[str, Kind]:
    """All kinds by name."""
    return discover(__name__)


def make(target: NotifyTarget, env: Mapping[str, str]) -> Notifier:
    """The notifier of a settings table. Raises UsageError with what is wrong and where."""
    where = f"monitor.notify {target.name}"
    kind = kinds().get(target.type)
    if kind is None:
        raise UsageError(f"{where}: no notifier is of type {target.type!r}; known: {', '.join(kinds()) or 'none'}")
    options = {option: _resolved(value, f"{where}: {option}", env) for option, value in target.options.items()}
    try:
        return kind.make(target.name, options)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _resolved(value: Any, where: str, env: Mapping[str, str]) -> Any:
    """With what environment and files say, in lists and tables too. A file's last line break is no part of its text."""
    if isinstance(value, list):
        return [_resolved(item, where, env) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"env"}:
        variable = str(value["env"])
        if not env.get(variable):
            raise UsageError(f"{where} is to come from the environment variable {variable}, which is not set")
        return env[variable]
    if value.keys() == {"file"}:
        path = str(value["file"])
        try:
            return Path(path).read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{where} is to come from the file {path}, which cannot be read: {error}") from error
    return {name: _resolved(item, where, env) for name, item in value.items()}
