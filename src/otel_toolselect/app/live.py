"""Wiring of live judging: what a receiver stored goes to the judge, beside the store that it judges from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from otel_toolselect.app.panels import PanelFiles
from otel_toolselect.config import Settings
from otel_toolselect.model.spans import LogRecord, Span

if TYPE_CHECKING:
    from otel_toolselect.judge.live import LiveJudge
    from otel_toolselect.store import Store

BOOKMARK = "live"
LOOK_BACK_PAGE = 10_000


class LiveSink:
    """A receiver's sink: into the store, then to the judge. `Sink` of `receive.settings`."""

    def __init__(self, store: Store, live: LiveJudge) -> None:
        self._store = store
        self._live = live

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        self._store.insert(spans, logs)
        self._live.offer(spans, logs)


@contextmanager
def judging(store: Store, settings: Settings, *, sole_writer: bool) -> Iterator[tuple[LiveJudge, PanelFiles]]:
    """A live judge on the store while the block lasts, beginning with what an earlier one left.

    Raises InputError for suites and rule files with mistakes.
    """
    from otel_toolselect import app
    from otel_toolselect.assemble import CaseAttributes
    from otel_toolselect.judge.live import LiveJudge
    from otel_toolselect.judge.waiting import Patience

    wanted, names = settings.live, settings.case_attributes
    panel = PanelFiles(wanted.suites, wanted.rules, partial(app.asker_of, settings.judge))
    live = LiveJudge(
        store,
        panel,
        CaseAttributes(names.case_id, names.suite, names.label, names.attempt),
        Patience(settle=wanted.settle_seconds, wait=wanted.wait_seconds, memory=wanted.memory_bytes),
        sole_writer=sole_writer,
    )
    live.start()
    try:
        yield live, panel
    finally:
        live.stop()
