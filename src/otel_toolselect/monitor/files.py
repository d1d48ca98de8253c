"""Alert files as they stand on disk: read again when they change, the last good ones kept when that fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Alert
from otel_toolselect.monitor.builtin import CONFIG
from otel_toolselect.rules.alertfiles import load_alerts

log = logging.getLogger(__name__)


def load_all(paths: Sequence[str]) -> tuple[Alert, ...]:
    """The alerts of all files; an id may stand once. Raises SuiteError with every mistake of a file, InputError."""
    found: dict[str, Alert] = {}
    places: dict[str, str] = {CONFIG: "the monitor itself"}
    for path in paths:
        for alert in load_alerts(path).alerts:
            if alert.id in places:
                raise InputError(
                    f"the alert {alert.id!r} is defined in {places[alert.id]} already; give one of them another id",
                    where=f"{path}:{alert.line}",
                )
            found[alert.id], places[alert.id] = alert, path
    return tuple(found.values())


class AlertFiles:
    """Called by the one thread that evaluates. `problem`: what is wrong with the files now, None when all is well.

    Raises InputError when the files cannot be read at the start.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._stamps = self._stamped()
        self._alerts = load_all(self._paths)
        self.problem: str | None = None

    def __call__(self) -> tuple[Alert, ...]:
        """The alerts in force."""
        stamps = self._stamped()
        if stamps != self._stamps:
            self._stamps = stamps
            self._reload()
        return self._alerts

    def _reload(self) -> None:
        try:
            self._alerts = load_all(self._paths)
        except InputError as error:
            self.problem = str(error)
            log.error("an alert file is broken, the last good one stays in force: %s", error)
        else:
            self.problem = None
            log.info("alert files were read again")

    def _stamped(self) -> list[tuple[int, int, int] | None]:
        """Of each file; None for one that is away: an editor may be replacing it."""
        return [_stamp(Path(path)) for path in self._paths]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
