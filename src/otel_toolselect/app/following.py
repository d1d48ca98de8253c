"""Wiring of following: judging what arrives in a store that others fill, alone or as one of several workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect.app.live import Live, judge_on, panel_files
from otel_toolselect.config import Settings
from otel_toolselect.errors import UsageError
from otel_toolselect.model.values import digest

if TYPE_CHECKING:
    import threading

    from otel_toolselect.judge.following import Follower
    from otel_toolselect.store import Store

BEATS_PER_LEASE = 5
_TELL_S = 10.0


@dataclass(frozen=True, slots=True)
class Following:
    """A follower at work, and its judge."""

    follower: Follower
    live: Live

    @property
    def caught_up(self) -> bool:
        """Whether everything that the store told of by now is judged."""
        counters = self.follower.counters
        return bool(counters.workers) and not counters.behind and self.live.judge.judged_until() == float("inf")

    def says(self) -> str:
        """One line of progress."""
        counters, seen = self.live.judge.snapshot(), self.follower.counters
        faults = f", {counters.faults} faults" if counters.faults else ""
        shared = f", shared with {seen.workers - 1} others" if seen.workers > 1 else ""
        return (
            f"judged {counters.traces:,} traces: {counters.runs:,} runs, {counters.verdicts:,} verdicts;"
            f" {counters.waiting_traces:,} wait{faults}{shared}"
        )


@contextmanager
def following(store: Store, source: Store, settings: Settings, *, since_ns: int | None = None) -> Iterator[Following]:
    """What arrives in the source is judged while the block lasts, and kept in the store; nothing is written into the
    source. It goes on where the bookmark of those stands who judge the same source by the same suites and rule files;
    the first begins at `since_ns`, without it as far back as the settings say.

    Raises InputError for suites and rule files with mistakes, StoreError.
    """
    from otel_toolselect.judge.crew import Crew
    from otel_toolselect.judge.following import Follower, Rhythm
    from otel_toolselect.store import Cursor

    lease = settings.live.lease_seconds
    files = panel_files(store, settings)
    crew = Crew(store, _crew_of(store, source, files().names), lease_s=lease)
    judge = judge_on(store, files, settings, source=source, crew=crew)
    if since_ns is None:
        since_ns = store.crews.now() - round(settings.live.lookback_seconds * 1e9)
    rhythm = Rhythm(beat=lease / BEATS_PER_LEASE)
    follower = Follower(source, judge, crew, Cursor(max(0, since_ns)), rhythm)
    judge.start()
    follower.start()
    try:
        yield Following(follower, Live(judge, files))
    finally:
        follower.stop()


def _crew_of(store: Store, source: Store, names: tuple[str, ...]) -> str:
    """Those who judge something else, or by something else, do not share with each other."""
    where = "" if source is store else source.dsn
    return digest(json.dumps([where, *names])).removeprefix("sha256:")[:16]


def stay_following(
    settings: Settings,
    source_dsn: str | None,
    stop: threading.Event,
    *,
    since_ns: int | None = None,
    until_caught_up: bool,
    metrics_port: int | None = None,
    tell: Callable[[str], None],
) -> None:
    """Until stopped, or until everything that is there is judged. Raises UsageError, InputError, StoreError."""
    from otel_toolselect.store import open_store

    if not settings.live.on:
        raise UsageError("nothing to judge by: name --suite or --rules, or set them in the [live] table")
    with ExitStack() as stack:
        store = open_store(settings.dsn)
        stack.callback(store.close)
        source = store
        if source_dsn is not None:
            source = open_store(source_dsn, create=False)
            stack.callback(source.close)
        running = stack.enter_context(following(store, source, settings, since_ns=since_ns))
        if metrics_port is not None:
            stack.enter_context(_metrics(running, metrics_port))
        tell(f"judging what arrives in {source.dsn}, kept in {store.dsn}")
        said = ""
        while not stop.wait(0.2 if until_caught_up else _TELL_S):
            if until_caught_up and running.caught_up:
                break
            if not until_caught_up and (now := running.says()) != said:
                said = now
                tell(said)
    tell(running.says())


@contextmanager
def _metrics(running: Following, port: int) -> Iterator[None]:
    """/metrics on loopback while the block lasts. Raises UsageError where the port is taken."""
    from prometheus_client import CollectorRegistry, start_http_server

    from otel_toolselect.app.live_figures import FollowCollector, LiveCollector

    registry = CollectorRegistry()
    registry.register(LiveCollector(running.live))
    registry.register(FollowCollector(running.follower))
    try:
        server, thread = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        raise UsageError(f"--metrics-port {port}: {error.strerror}; take another one") from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
