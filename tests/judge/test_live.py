"""Live judging ends where judging everything at once ends: whatever the order of arrival, the batches, the repeats, the
restarts and the failures on the way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect.assemble import DEFAULT_ATTRIBUTES, assemble
from otel_toolselect.dialects import read
from otel_toolselect.errors import StoreError
from otel_toolselect.judge import grouping
from otel_toolselect.judge.live import LiveJudge
from otel_toolselect.judge.panel import Judged, Panel
from otel_toolselect.judge.waiting import Patience
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.rules.loader import parse_suite
from otel_toolselect.rules.rulefiles import parse_rules
from otel_toolselect.store import Store, open_store, patience
from tests.dialects.captures import FOLDER, Scenario, signals

RULES = parse_rules(
    "rules: guard\ncases:\n  - {id: few, expect: {budget: {calls: 1}}, severity: warning}\n", path="guard.yaml"
)
SUITE = parse_suite(
    "suite: none-of-it\ncases:\n  - {id: never, prompt: nobody asked this, expect: {class: none}}\n", path="s.yaml"
)
PANEL = Panel((SUITE,), (RULES,))
PATIENCE = Patience(settle=2, wait=30, longest=1_000)
# with an agent, without context (stitched across traces), several agents, log records, links and a bus
LIBRARIES = ("pydantic-ai-v3", "openinference-instrumentation-openai", "strands", "litellm-otel-noparent",
             "opentelemetry-instrumentation-openai-v2", "autogen-agentchat", "mcp-python-sdk-native")  # fmt: skip

Signals = tuple[tuple[Span, ...], tuple[LogRecord, ...]]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@cache
def traffic(library: str) -> Signals:
    names = sorted(p.name.split(".")[0] for p in (FOLDER / library).glob("*.otlp.jsonl.gz"))
    found = [signals(Scenario(library, name)) for name in names[:4]]
    # log records without a trace belong to no trace that could come due
    return tuple(s for f in found for s in f[0]), tuple(r for f in found for r in f[1] if r.trace_id)


def at_once(spans: Sequence[Span], logs: Sequence[LogRecord]) -> Judged:
    return PANEL.judge(assemble(read(spans, logs), DEFAULT_ATTRIBUTES))


def by_run(runs: Sequence[Run]) -> list[Run]:
    return sorted(runs, key=lambda r: r.run_id)


def by_key(decisions: Sequence[Decision]) -> list[Decision]:
    return sorted(decisions, key=lambda d: (d.suite, d.run_id, d.rule))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"chdb://{tmp_path_factory.mktemp('live')}")
    yield store
    store.close()


@pytest.fixture
def store(home: Store) -> Store:
    empty(home)
    return home


def empty(store: Store) -> None:
    for table in ("otel_traces", "otel_logs", "runs", "verdicts", "judgements"):
        store._session.execute(f"TRUNCATE TABLE {table}")  # type: ignore[attr-defined]


def judge_on(store: Store, clock: Clock, patience: Patience = PATIENCE) -> LiveJudge:
    return LiveJudge(store, lambda: PANEL, DEFAULT_ATTRIBUTES, patience, sole_writer=True, clock=clock)


def check(store: Store, spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
    wanted = at_once(spans, logs)
    found = by_run(list(store.runs()))
    assert [r.run_id for r in found] == [r.run_id for r in by_run(wanted.runs)]
    assert found == by_run(wanted.runs)
    assert by_key(list(store.decisions())) == by_key(wanted.decisions)


@settings(
    max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(
    libraries=st.lists(st.sampled_from(LIBRARIES), min_size=1, max_size=2, unique=True),
    seed=st.integers(0, 2**32),
    batches=st.integers(1, 6),
    memory=st.sampled_from([64 * 2**20, 20_000]),
    restart=st.booleans(),
)
def test_it_ends_where_judging_all_at_once_ends(
    home: Store, libraries: list[str], seed: int, batches: int, memory: int, restart: bool
) -> None:
    empty(home)
    rng = random.Random(seed)
    spans = [s for library in libraries for s in traffic(library)[0]]
    logs = [r for library in libraries for r in traffic(library)[1]]
    rng.shuffle(spans)
    rng.shuffle(logs)
    clock = Clock()
    patience = Patience(settle=2, wait=30, longest=1_000, memory=memory)
    live = judge_on(home, clock, patience)
    for number in range(batches):
        part, more = spans[number::batches], logs[number::batches]
        again = rng.sample(spans[: number + 1], min(3, number))
        home.insert([*part, *again], more)
        live.offer([*part, *again], more)
        clock.now += rng.choice([0.5, 3.0, 40.0])
        live.turn()
        if restart and number == batches // 2:
            live = judge_on(home, clock, patience)
            live.recover({s.trace_id for s in spans} | {r.trace_id for r in logs})
    clock.now += 100
    while live.turn():
        pass
    check(home, spans, logs)
    assert live.snapshot().waiting_traces == 0
    assert live.counters.faults == 0


def test_a_late_root_takes_the_place_of_what_was_judged_without_it(store: Store) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    roots = {s.span_id for s in spans if not s.parent_span_id}
    clock = Clock()
    live = judge_on(store, clock)
    for part in ([s for s in spans if s.span_id not in roots], [s for s in spans if s.span_id in roots]):
        store.insert(part, logs)
        live.offer(part, logs)
        clock.now += 31
        live.turn()
    assert live.counters.retracted > 0
    check(store, spans, logs)


def test_fresh_spans_spare_reading_and_a_late_one_does_not(store: Store) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    traces = len({s.trace_id for s in spans})
    clock = Clock()
    live = judge_on(store, clock)
    store.insert(spans, logs)
    live.offer(spans, logs)
    clock.now += 3
    assert live.turn() == traces
    assert live.counters.read_back == 0
    counted = dict(live.counters.judged)
    assert sum(n for (suite, _), n in counted.items() if not suite) == live.counters.runs
    live.offer(spans[:1], ())
    clock.now += 31
    assert live.turn() == 1
    assert live.counters.read_back == 1
    assert live.counters.judged == counted  # judged again, not counted again
    check(store, spans, logs)


def test_another_writer_may_hold_a_part_so_the_store_is_asked(store: Store) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    store.insert(spans, logs)
    clock = Clock()
    live = LiveJudge(store, lambda: PANEL, DEFAULT_ATTRIBUTES, PATIENCE, sole_writer=False, clock=clock)
    roots = [s for s in spans if not s.parent_span_id]  # all that this process got
    live.offer(roots, ())
    clock.now += 3
    live.turn()
    check(store, spans, logs)


class Moody:
    """A store that fails now and then, before or after it has kept something."""

    def __init__(self, store: Store, rng: random.Random) -> None:
        self._store = store
        self._rng = rng

    def __getattr__(self, name: str) -> object:
        real = getattr(self._store, name)
        if not name.startswith(("write_", "add_", "replace_", "retract", "runs_of")):
            return real

        def moody(*args: object) -> object:
            mood = self._rng.random()
            if mood < 0.2:
                raise StoreError("away")
            result = real(*args)
            if mood < 0.4:
                raise StoreError("gone before it answered")
            return result

        return moody


@pytest.mark.parametrize("seed", range(4))
def test_a_store_that_fails_half_way_ends_in_the_same_place(store: Store, seed: int) -> None:
    spans, logs = traffic("openinference-instrumentation-openai")
    rng = random.Random(seed)
    clock = Clock()
    live = LiveJudge(Moody(store, rng), lambda: PANEL, DEFAULT_ATTRIBUTES, PATIENCE, sole_writer=True, clock=clock)  # type: ignore[arg-type]
    failures = 0
    for part in (spans[::2], spans[1::2]):
        store.insert(part, logs)
        live.offer(part, logs)
        for _ in range(60):
            clock.now += 40
            try:
                if not live.turn():
                    break
            except StoreError:
                failures += 1
    assert failures
    check(store, spans, logs)


class Unreliable:
    """A client of which a share of the statements fails, before or after the engine has carried them out."""

    def __init__(self, client: Any, rng: random.Random, share: float) -> None:
        self._client = client
        self._rng = rng
        self._share = share
        self.failures = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._client, name)
        return partial(self._asked, real) if name in ("raw_query", "raw_insert") else real

    def _asked(self, real: Callable[..., Any], *args: Any, **more: Any) -> Any:
        mood = self._rng.random()
        if mood < self._share / 2:
            self.failures += 1
            raise OSError("away")
        result = real(*args, **more)
        if mood < self._share:
            self.failures += 1
            raise OSError("gone before it answered")
        return result


@pytest.mark.parametrize("seed", range(3))
def test_statements_that_fail_are_sent_again_and_the_turn_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.001)
    spans, logs = traffic("openinference-instrumentation-openai")
    clock = Clock()
    live = judge_on(store, clock)
    client = Unreliable(store._session._client, random.Random(seed), 0.4)  # type: ignore[attr-defined]
    for part in (spans[::2], spans[1::2]):
        store.insert(part, logs)
        live.offer(part, logs)
        clock.now += 40
        with monkeypatch.context() as patch:
            patch.setattr(store._session, "_client", client)  # type: ignore[attr-defined]
            assert live.turn() == len({s.trace_id for s in part} | {r.trace_id for r in logs})
    assert client.failures
    assert live.counters.sent_again == client.failures
    assert live.snapshot().waiting_traces == 0
    check(store, spans, logs)


def test_a_fault_of_ours_costs_its_group_and_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    broken = spans[0].trace_id
    real = assemble

    def fragile(observations: Sequence[object], names: object) -> list[Run]:
        if any(o.span.trace_id == broken for o in observations):  # type: ignore[attr-defined]
            raise RuntimeError("nobody foresaw this")
        return real(observations, names)  # type: ignore[arg-type]

    monkeypatch.setattr("otel_toolselect.judge.live.assemble", fragile)
    clock = Clock()
    live = judge_on(store, clock)
    store.insert(spans, logs)
    live.offer(spans, logs)
    clock.now += 31
    live.turn()
    assert live.counters.faults == 1
    kept = [s for s in spans if s.trace_id != broken]
    assert by_run(list(store.runs())) == by_run(at_once(kept, logs).runs)


def test_what_a_fault_interrupted_is_not_taken_for_judged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    clock = Clock()
    live = judge_on(store, clock)
    store.insert(spans, logs)
    live.offer(spans, logs)
    clock.now += 31
    with monkeypatch.context() as patch:
        patch.setattr(type(store), "add_judged", _unforeseen)
        live.turn()
    assert live.counters.faults == 1
    assert live.judged_until() < float("inf")  # or the bookmark would move beyond what was not judged
    clock.now += 31
    live.turn()
    check(store, spans, logs)


def test_a_trace_that_cannot_be_judged_costs_itself_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    broken = spans[0].trace_id
    real = type(store).write_runs

    def picky(self: Store, runs: Sequence[Run], *more: object) -> None:
        if any(broken in run.trace_ids for run in runs):
            raise OverflowError("a value that no column takes")
        real(self, runs, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(type(store), "write_runs", picky)
    clock = Clock()
    live = judge_on(store, clock)
    store.insert(spans, logs)
    live.offer(spans, logs)
    for _ in range(3):
        clock.now += 31
        live.turn()
    assert live.counters.faults == 2
    assert live.judged_until() == float("inf")
    check(store, [s for s in spans if s.trace_id != broken], logs)


def _unforeseen(*_: object) -> None:
    raise ValueError("a row that cannot be written")


def test_what_is_forgotten_is_asked_of_the_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "REMEMBERED", 1)
    spans, logs = traffic("pydantic-ai-v3")
    clock = Clock()
    live = judge_on(store, clock)
    for part in (spans[::2], spans[1::2]):
        store.insert(part, logs)
        live.offer(part, logs)
        clock.now += 31
        live.turn()
    check(store, spans, logs)


def test_the_thread_judges_and_stops(store: Store) -> None:
    spans, logs = traffic("pydantic-ai-v3")
    live = LiveJudge(store, lambda: PANEL, DEFAULT_ATTRIBUTES, Patience(settle=0, wait=0), sole_writer=True)
    live.start()
    store.insert(spans, logs)
    live.offer(spans, logs)
    assert live.wait_for_room(30)
    live.stop()
    live.settle()
    check(store, spans, logs)
