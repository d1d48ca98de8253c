"""Figures over windows equal a brute-force count in pandas, on random decisions and random windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect.model.alerting import Observed, Query, Scope, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.signal_figures import FIGURES, MIXES
from tests.store.builders import HOUR, T0

TOOLS = ["search", "refund", "update"]
LABELS = [*TOOLS, "none", "ask_followup"]
NO_CALL = {"none", "ask_followup", "refuse_no_tool"}
WINDOWS = [Window(T0, T0 + HOUR), Window(T0 + HOUR // 2, T0 + 2 * HOUR), Window(T0 + 2 * HOUR, T0 + 2 * HOUR + 1)]

_lists = st.lists(st.sampled_from(TOOLS), max_size=3).map(tuple)


@st.composite
def decisions(draw: st.DrawFn) -> list[Decision]:
    found = []
    for number in range(draw(st.integers(0, 25))):
        suite, rule = draw(st.sampled_from([("", ""), ("s1", ""), ("s2", ""), ("guard", "r1"), ("guard", "r2")]))
        excluded = draw(st.sampled_from([None, None, None, "infra", "incomplete"]))
        cells = draw(st.lists(st.builds(Cell, st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=2))
        found.append(
            Decision(
                suite=suite,
                rule=rule,
                run_id=f"run{number}",
                trace_id="t",
                case_id="c",
                start_ns=T0 + draw(st.integers(-HOUR, 3 * HOUR)),
                status="pass",
                first_action=draw(st.sampled_from(LABELS)),
                observed_class=draw(st.sampled_from(["call", "none", "ask_followup"])),
                cells=() if excluded or not suite else tuple(cells),
                layers={"selection": draw(st.sampled_from(["pass", "fail", "needs_review"]))} if suite else {},
                excluded=excluded,
                origin="rule" if rule else "suite",
                agent=draw(st.sampled_from([None, "a", "b"])),
                model=draw(st.sampled_from(["m1", "m2"])),
                scored=tuple(draw(st.lists(st.tuples(st.sampled_from(TOOLS), st.booleans()), max_size=2))),
                ghosts=draw(_lists),
                forbidden=draw(_lists),
                unauthorized=draw(_lists),
                calls=tuple(draw(st.lists(st.tuples(st.sampled_from(TOOLS), st.booleans()), max_size=4))),
                loops=draw(st.integers(0, 2)),
                duration_ns=draw(st.none() | st.integers(0, 10**10)),
                input_tokens=draw(st.none() | st.integers(0, 999)),
                output_tokens=draw(st.none() | st.integers(0, 999)),
                cost_usd=draw(st.none() | st.sampled_from([0.25, 0.5, 1.0])),
            )
        )
    return found


def frame(rows: list[Decision], query: Query, window: Window) -> pd.DataFrame:
    """The decisions that a query is about in a window."""
    facts = FIGURES[query.signal].facts
    kept = []
    for d in rows:
        if not window.start_ns <= d.start_ns < window.end_ns:
            continue
        named = bool(query.of.suite or query.of.policy)
        in_suite = not d.rule and d.suite in query.of.suite
        in_policy = bool(d.rule) and (d.suite in query.of.policy or f"{d.suite}/{d.rule}" in query.of.policy)
        if not ((in_suite or in_policy) if named else (d.suite == "") == facts):
            continue
        if query.of.agent and d.agent not in query.of.agent:
            continue
        kept.append({name: getattr(d, name) for name in Decision.__dataclass_fields__})
    return pd.DataFrame(kept, columns=list(Decision.__dataclass_fields__))


def cells(data: pd.DataFrame) -> pd.DataFrame:
    pairs = [(cell.expected, cell.observed) for row in data.cells for cell in row]
    return pd.DataFrame(pairs, columns=["wanted", "got"])


def brute(rows: list[Decision], query: Query, window: Window) -> tuple[int, float]:  # noqa: C901
    """(n, hits) of a window, as the definitions in `model.signals` say them."""
    data = frame(rows, query, window)
    judged = data[data.excluded.isna()]
    tools = set(query.of.tool) or set(LABELS)
    selection = judged.layers.map(lambda layers: layers.get("selection"))
    match query.signal:
        case "accuracy":
            return int(selection.isin(["pass", "fail"]).sum()), int((selection == "pass").sum())
        case "wrong_tool":
            return int(selection.isin(["pass", "fail"]).sum()), int((selection == "fail").sum())
        case "argument_accuracy" | "argument_failures":
            scored = [right for row in judged.scored for tool, right in row if tool in tools]
            right = sum(scored)
            return len(scored), right if query.signal == "argument_accuracy" else len(scored) - right
        case "recall":
            found = cells(data)
            found = found[found.wanted.isin(tools)]
            return len(found), int((found.wanted == found.got).sum())
        case "precision":
            found = cells(data)
            found = found[found.got.isin(tools)]
            return len(found), int((found.wanted == found.got).sum())
        case "worst_recall":
            found = cells(data)
            by_tool = found[~found.wanted.isin(NO_CALL)].groupby("wanted")
            each = [(int((g.wanted == g.got).sum()), len(g), name) for name, g in by_tool if len(g) >= query.least]
            if not each:
                return 0, 0
            hits, n, _ = min(each, key=lambda e: (e[0] / e[1], -e[1], e[2]))
            return n, hits
        case "confusion_count" | "confusion_share":
            found = cells(data)
            assert query.of.pair is not None
            expected, observed = query.of.pair
            row = found[found.wanted == expected]
            n = len(found) if query.signal == "confusion_count" else len(row)
            return n, int((row.got == observed).sum())
        case "ghost_calls" | "forbidden_mutations" | "unauthorized_mutations":
            column = {"ghost_calls": "ghosts"}.get(query.signal, query.signal.removesuffix("_mutations"))
            return len(data), sum(tool in tools for row in data[column] for tool in row)
        case "redundancy":
            flags = [again for row in data.calls for tool, again in row if tool in tools]
            return len(flags), sum(flags)
        case "recovery_loops":
            return len(data), int((data.loops > 0).sum())
        case "clarification_rate":
            return len(judged), int((judged.observed_class == "ask_followup").sum())
        case "over_eager_abstention" | "under_eager_abstention":
            over = query.signal.startswith("over")
            wanted = judged.cells.map(lambda c: bool(c) and (c[0].expected in NO_CALL) != over)
            due = judged[wanted.astype(bool)]
            return len(due), int(((due.observed_class != "call") if over else (due.observed_class == "call")).sum())
        case "infra_rate":
            whole = data[data.excluded != "incomplete"]
            return len(whole), int((whole.excluded == "infra").sum())
        case "tokens":
            return len(data), int(data.input_tokens.fillna(0).sum() + data.output_tokens.fillna(0).sum())
        case "cost":
            return len(data), float(data.cost_usd.fillna(0).sum())
        case "decisions" | "no_data":
            named = data[data.first_action.isin(query.of.tool)] if query.of.tool else data
            return len(named), len(named)
    raise AssertionError(query.signal)


COUNTED = sorted(name for name, figure in FIGURES.items() if figure.kind != "quantile")


@pytest.fixture(scope="module")
def shared(engine_home: Any) -> Iterator[Store]:
    store = open_store(f"chdb://{engine_home}?database=windows")
    yield store
    store.close()


def put(store: Store, rows: list[Decision]) -> None:
    store._session.execute("TRUNCATE TABLE judgements")  # type: ignore[attr-defined]
    store.add_judged([], rows)
    store.add_judged([], rows[::2])  # sent again: a window must not count it twice


def queries(signal: str) -> list[Query]:
    pair = ("search", "refund") if "pair" in SIGNALS[signal].needs else None
    tool = ("search",) if SIGNALS[signal].per_tool else ()
    least = 2 if signal == "worst_recall" else 0
    scopes = [
        Scope(pair=pair, tool=tool),
        Scope(suite=("s1", "s2"), pair=pair),
        Scope(policy=("guard/r1",), agent=("a",), pair=pair),
        Scope(suite=("s1",), policy=("guard",), pair=pair, tool=tool),
    ]
    return [Query(signal, scope, least=least) for scope in scopes]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=decisions(), signals=st.lists(st.sampled_from(COUNTED), min_size=4, max_size=4, unique=True))
def test_every_count_and_ratio_equals_a_brute_force_count(
    shared: Store, rows: list[Decision], signals: list[str]
) -> None:
    put(shared, rows)
    for signal in signals:
        for query in queries(signal):
            found = shared.observe(query, WINDOWS)[()]
            wanted = [brute(rows, query, window) for window in WINDOWS]
            seen = [_pair(one, signal) for one in found]
            assert seen == wanted, (signal, query.of)
            ratio = FIGURES[signal].kind == "ratio"
            for one, (n, hits) in zip(found, wanted, strict=True):
                assert one.value == ((hits / n if n else None) if ratio else hits)


def _pair(one: Observed, signal: str) -> tuple[int, float]:
    return one.n, one.value if FIGURES[signal].kind == "count" else one.numerator or 0  # type: ignore[return-value]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=decisions())
def test_series_are_the_parts_of_the_whole(shared: Store, rows: list[Decision]) -> None:
    put(shared, rows)
    whole = shared.observe(Query("recall", Scope(suite=("s1", "s2"))), WINDOWS)[()]
    parts = shared.observe(Query("recall", Scope(suite=("s1", "s2")), by=("agent", "tool")), WINDOWS)
    assert all([name for name, _ in series] == ["agent", "tool"] for series in parts)
    for i in range(len(WINDOWS)):
        assert sum(p[i].n for p in parts.values()) == whole[i].n
        assert sum(p[i].numerator or 0 for p in parts.values()) == (whole[i].numerator or 0)


def test_quantiles_and_mixes(shared: Store) -> None:
    rows = [
        Decision("", "", f"r{i}", "t", "c", T0 + i, "n/a", TOOLS[i % 2], "call", duration_ns=i * 10**9)
        for i in range(1, 101)
    ]
    put(shared, rows)
    (p50, empty) = shared.observe(Query("latency_p50"), [WINDOWS[0], WINDOWS[2]])[()]
    assert p50.n == 100
    assert p50.value == pytest.approx(50.5, abs=1)
    assert (empty.value, empty.n) == (None, 0)
    mix = shared.mixes(Query("drift_tools"), [WINDOWS[0], WINDOWS[2]])
    assert mix == {(): ({"search": 50, "refund": 50}, {})}
    assert shared.observe(Query("decisions"), []) == {(): ()}


def test_every_signal_has_its_query() -> None:
    """The table of signals and the table of queries are held together here; lag is of spans, not of decisions."""
    assert FIGURES.keys() | MIXES.keys() | {"ingest_lag_p95"} == SIGNALS.keys()
    for name, figure in FIGURES.items():
        assert SIGNALS[name].kind == figure.kind, name
        assert SIGNALS[name].per_tool <= bool(figure.tool), name
