"""Wiring of live judging: what a receiver stored goes to the judge, beside the store that it judges from."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from otel_toolselect.app.labels import labelling
from otel_toolselect.app.panels import PanelFiles
from otel_toolselect.config import Settings
from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import LogRecord, Span

if TYPE_CHECKING:
    from otel_toolselect.judge.crew import Crew
    from otel_toolselect.judge.live import LiveJudge
    from otel_toolselect.store import Store

log = logging.getLogger(__name__)


_ROOM_WITHIN_S = 5.0


class LiveSink:
    """A receiver's sink: into the store, then to the judge. `Sink` of `receive.settings`."""

    def __init__(self, store: Store, live: Live) -> None:
        self._store = store
        self._live = live.judge
        self._storing = live.storing

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        with self._storing:
            self._store.insert(spans, logs)
            self._live.offer(spans, logs)
        self._live.wait_for_room(_ROOM_WITHIN_S)


@dataclass(frozen=True, slots=True)
class Live:
    """A judge at work, and the files that it judges by."""

    judge: LiveJudge
    files: PanelFiles
    storing: threading.Lock = field(default_factory=threading.Lock)
    """Held while something is stored and offered to the judge."""


@contextmanager
def judging(store: Store, settings: Settings) -> Iterator[Live]:
    """A live judge on a store that only this process fills while the block lasts, beginning with what an earlier one
    left. At the end what waits is judged, as long as a stop may take; the rest is left to the next.

    Raises InputError for suites and rule files with mistakes, StoreError.
    """
    from otel_toolselect.judge.recovering import Recovery

    files = panel_files(store, settings)
    live = Live(judge_on(store, files, settings, sole_writer=True), files)
    recovery = Recovery(store, live.judge, live.storing, settings.live.lookback_seconds)
    recovery.start()
    live.judge.start()
    try:
        yield live
    finally:
        live.judge.stop()
        with suppress(StoreError):
            live.judge.settle(settings.spool.stop_s)
        recovery.stop()


def panel_files(store: Store, settings: Settings) -> PanelFiles:
    """The suites and rule files of the settings. Raises InputError for mistakes in them."""
    from otel_toolselect import app

    wanted = settings.live
    return PanelFiles(
        wanted.suites,
        wanted.rules,
        partial(app.asker_of, settings.judge),
        labelling=partial(labelling, store, settings),
    )


def judge_on(
    store: Store,
    files: PanelFiles,
    settings: Settings,
    *,
    sole_writer: bool = False,
    source: Store | None = None,
    crew: Crew | None = None,
) -> LiveJudge:
    """See `judge.live.LiveJudge`."""
    from otel_toolselect.assemble import CaseAttributes
    from otel_toolselect.judge.live import LiveJudge
    from otel_toolselect.judge.waiting import Patience

    wanted, names = settings.live, settings.case_attributes
    return LiveJudge(
        store,
        files,
        CaseAttributes(names.case_id, names.suite, names.label, names.attempt, names.expected),
        Patience(settle=wanted.settle_seconds, wait=wanted.wait_seconds, memory=wanted.memory_bytes),
        sole_writer=sole_writer,
        source=source,
        crew=crew,
    )
