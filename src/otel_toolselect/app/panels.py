"""Suites and rule files as they stand on disk: read again when they change, the last good ones kept when that fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.errors import InputError
from otel_toolselect.judge.labelling import Labelling
from otel_toolselect.judge.panel import Asking, Panel

if TYPE_CHECKING:
    from otel_toolselect.rules import Suite
    from otel_toolselect.rules.rulefiles import RuleFile

log = logging.getLogger(__name__)
_LOOK_AGAIN_S = 2.0


class PanelFiles:
    """Called by the one thread that judges. `problem` is what is wrong with the files now, None when all is well.

    Raises InputError (SuiteError with every mistake) when the files cannot be read at the start.
    """

    def __init__(
        self,
        suites: Sequence[str],
        rules: Sequence[str],
        asking: Asking,
        *,
        labelling: Callable[[], Labelling] = Labelling,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._suites = tuple(suites)
        self._rules = tuple(rules)
        self._asking = asking
        self._labelling = labelling
        self._clock = clock
        self._stamps = self._stamped()
        self._panel = self._load()
        self._looked_s = clock()
        self.problem: str | None = None
        self.reloads = 0
        self.failed_reloads = 0

    @property
    def panel(self) -> Panel:
        """The panel in force, for other threads: nothing is read again."""
        return self._panel

    def __call__(self) -> Panel:
        """The panel in force."""
        now = self._clock()
        if now - self._looked_s >= _LOOK_AGAIN_S:
            self._looked_s = now
            stamps = self._stamped()
            if stamps != self._stamps:
                self._stamps = stamps
                self._reload()
        return self._panel

    def _reload(self) -> None:
        try:
            self._panel = self._load()
        except InputError as error:
            self.problem = str(error)
            self.failed_reloads += 1
            log.error("a suite or rule file is broken, the last good one stays in force: %s", error)
        else:
            self.problem = None
            self.reloads += 1
            log.info("suites and rule files were read again")

    def _load(self) -> Panel:
        from otel_toolselect.rules.loader import load_suite
        from otel_toolselect.rules.rulefiles import load_rules

        suites: list[Suite] = [load_suite(path) for path in self._suites]
        rules: list[RuleFile] = [load_rules(path) for path in self._rules]
        return Panel(tuple(suites), tuple(rules), self._asking, self._labelling())

    def _stamped(self) -> list[tuple[int, int] | None]:
        """Time and size of each file, None for one that is away: an editor may be replacing it."""
        return [_stamp(Path(path)) for path in (*self._suites, *self._rules)]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
