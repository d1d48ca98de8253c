"""`monitor judge`: a Collector's table is judged where it is, incremental and resumable; processes share a store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from otel_toolselect.app.following import stay_following
from otel_toolselect.assemble import assemble
from otel_toolselect.config import Settings, load
from otel_toolselect.dialects import read
from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span
from otel_toolselect.store import Store, open_store
from otel_toolselect.web.gateway import new_token
from otel_toolselect.web.lending import serving
from tests.judge.test_live import by_run, traffic

ROOT = Path(__file__).parents[2]
COLLECTOR = (ROOT / "tests" / "store" / "collector_traces.sql").read_text(encoding="utf-8")
RULES = "rules: guard\ncases:\n  - {id: few, expect: {budget: {calls: 1}}, severity: warning}\n"
WITHIN_S = 60.0
COPY = """INSERT INTO collected.otel_traces
SELECT Timestamp, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ServiceName,
    ResourceAttributes, ScopeName, ScopeVersion, SpanAttributes, Duration, StatusCode, StatusMessage,
    `Events.Timestamp`, `Events.Name`, `Events.Attributes`, `Links.TraceId`, `Links.SpanId`, `Links.TraceState`,
    `Links.Attributes` FROM staged.otel_traces"""


class Collected:
    """A database that a Collector fills, and one of ours beside it, behind the HTTP interface of one engine."""

    def __init__(self, engine: Store, address: str, token: str) -> None:
        self._engine = engine
        self._session = engine._session  # type: ignore[attr-defined]
        self.source = f"clickhouse://reader:{token}@{address}/collected"
        self.ours = f"clickhouse://us:{token}@{address}/ours"

    def empty(self) -> None:
        for name in ("collected", "ours"):
            self._session.execute(f"DROP DATABASE IF EXISTS {name}")
        self._session.execute("CREATE DATABASE collected")
        self._session.execute(COLLECTOR.replace("otel_traces", "collected.otel_traces", 1))

    def collect(self, spans: Sequence[Span]) -> None:
        """As a Collector's exporter would write them."""
        self._engine.insert(spans, [])
        self._session.execute(COPY)
        self._session.execute("TRUNCATE TABLE otel_traces")

    def tables(self) -> list[str]:
        found = self._session.select("SELECT name FROM system.tables WHERE database = 'collected'")
        return list(found["name"])

    def wanted(self, dsn: str) -> list[Run]:
        store = open_store(dsn, create=False)
        traces = list(store.traces())
        store.close()
        return by_run(assemble(read([s for t in traces for s in t[0]], [r for t in traces for r in t[1]])))

    def found(self) -> tuple[list[Run], int]:
        """Runs, and decisions under the rule."""
        store = open_store(self.ours, create=False)
        try:
            return by_run(list(store.runs())), len(list(store.decisions("guard")))
        finally:
            store.close()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collected]:
    store = open_store(f"chdb://{tmp_path_factory.mktemp('following')}?database=staged")
    engine = store.raw_engine()
    assert engine is not None
    token = new_token()
    with serving(engine, token) as url:
        yield Collected(store, url.removeprefix("http://"), token)
    engine.close()
    store.close()


@pytest.fixture
def collected(engine: Collected) -> Collected:
    engine.empty()
    return engine


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "guard.yaml"
    path.write_text(RULES)
    return str(path)


def recent(copies: range) -> list[Span]:
    """Untied traces that begin about now: where there is no arrival time a span's own stands for it."""
    spans = traffic("pydantic-ai-v3")[0]
    one = [s for s in spans if s.trace_id == spans[0].trace_id]
    later = time.time_ns() - 60 * 10**9 - min(s.start_ns for s in one)
    return [
        replace(s, trace_id=f"{n:032x}", start_ns=s.start_ns + later, end_ns=s.end_ns + later, events=(), links=())
        for n in copies
        for s in one
    ]


def settings_for(collected: Collected, rules: str) -> Settings:
    settings = load({"store": collected.ours, "live_rules": [rules]})
    return replace(settings, live=replace(settings.live, settle_seconds=0.0, wait_seconds=0.0))


def judge_once(collected: Collected, rules: str) -> str:
    said: list[str] = []
    stay_following(
        settings_for(collected, rules),
        collected.source,
        threading.Event(),
        since_ns=0,
        until_caught_up=True,
        tell=said.append,
    )
    return said[-1]


def test_a_collectors_table_is_judged_as_it_grows_and_never_written(collected: Collected, rules: str) -> None:
    collected.collect(recent(range(20)))
    assert judge_once(collected, rules).startswith("judged 20 traces: 20 runs")
    assert collected.found() == (collected.wanted(collected.source), 20)
    assert judge_once(collected, rules).startswith("judged 0 traces")
    collected.collect([s for s in recent(range(20, 30)) if s.parent_span_id])  # late spans follow
    judge_once(collected, rules)
    collected.collect([s for s in recent(range(20, 30)) if not s.parent_span_id])
    judge_once(collected, rules)
    runs, decided = collected.found()
    assert runs == collected.wanted(collected.source)
    assert len(runs) == decided == 30
    assert collected.tables() == ["otel_traces"]


def test_nothing_to_judge_by_is_bad_usage(collected: Collected) -> None:
    settings = load({"store": collected.ours})
    with pytest.raises(UsageError, match="name --suite or --rules"):
        stay_following(settings, None, threading.Event(), until_caught_up=True, tell=print)


def start(collected: Collected, rules: str) -> subprocess.Popen[str]:
    command = ["-m", "otel_toolselect.cli", "monitor", "judge", "--store", collected.ours]
    env = {"TOOLSELECT_LIVE_SETTLE_SECONDS": "0.2", "TOOLSELECT_LIVE_LEASE_SECONDS": "3"}
    return subprocess.Popen(
        [sys.executable, *command, "--rules", rules, "--since", "1h"],
        cwd=ROOT, env=os.environ | env, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + WITHIN_S
    while not done():
        assert time.monotonic() < end
        time.sleep(0.1)


def present(collected: Collected) -> int:
    """Workers that share, once all agree who they are."""
    shared = "SELECT uniqExact(View) AS views, count() AS n FROM ours.workers FINAL WHERE Gone = 0 AND View != ''"
    row = collected._session.select(shared)
    return int(row["n"][0]) if row["views"][0] == 1 else 0


def test_one_of_two_processes_is_killed_and_nothing_is_missing_or_double(collected: Collected, rules: str) -> None:
    store = open_store(collected.ours)
    workers = [start(collected, rules), start(collected, rules)]
    try:
        until(lambda: present(collected) == 2)
        store.insert(recent(range(150)), [])
        until(lambda: len(collected.found()[0]) > 0)
        workers[0].send_signal(signal.SIGKILL)
        store.insert(recent(range(150, 200)), [])
        until(lambda: collected.found()[1] == 200)
        assert collected.found() == (collected.wanted(collected.ours), 200)
        workers[1].send_signal(signal.SIGTERM)
        _, said = workers[1].communicate(timeout=30)
        assert workers[1].returncode == 0
        assert "faults" not in said
    finally:
        store.close()
        for worker in workers:
            if worker.poll() is None:
                worker.kill()
            worker.communicate()
