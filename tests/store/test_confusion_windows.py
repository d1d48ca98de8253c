"""Confusion over windows: equal to a brute-force count in pandas, and its cost grows with the window, not with what is
stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings

from otel_toolselect.model.alerting import Query, Scope, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.clickhouse import ClickHouseStore

from .builders import HOUR, T0
from .test_reading_costs import read_by
from .test_windows import WINDOWS, decisions, frame, put

SCOPES = [
    Scope(),
    Scope(suite=("s1",), tool=("search", "none")),
    Scope(policy=("guard",), agent=("a", "b")),
    Scope(suite=("s1", "s2"), pair=("search", "refund")),
]


@pytest.fixture(scope="module")
def shared(engine_home: Any) -> Iterator[Store]:
    store = open_store(f"chdb://{engine_home}?database=confusions")
    yield store
    store.close()


def counted(rows: list[Decision], of: Scope, window: Window, model: str | None = None) -> dict[Cell, int]:
    # `frame` limits a query that is not of facts to what a suite or policy expects
    data = frame(rows, Query("recall", of), window)
    data = data if model is None else data[data.model == model]
    pairs = pd.DataFrame([(c.expected, c.observed) for row in data.cells for c in row], columns=["wanted", "got"])
    if of.tool:
        pairs = pairs[pairs.wanted.isin(of.tool)]
    if of.pair:
        pairs = pairs[(pairs.wanted == of.pair[0]) & (pairs.got == of.pair[1])]
    return {Cell(*pair): int(n) for pair, n in pairs.value_counts().items()}


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=decisions())
def test_cells_equal_a_brute_force_count(shared: Store, rows: list[Decision]) -> None:
    put(shared, rows)
    for of in SCOPES:
        assert shared.confusion(of, (), WINDOWS) == {(): tuple(counted(rows, of, w) for w in WINDOWS)}
        found = shared.confusion(of, ("model",), WINDOWS)
        for model in ("m1", "m2"):
            wanted = tuple(counted(rows, of, w, model) for w in WINDOWS)
            assert found.get((("model", model),), ({},) * len(WINDOWS)) == wanted


def test_split_by_tool_means_the_expected_one(shared: Store) -> None:
    one = Decision("s", "", "r", "t", "c", T0, "fail", "refund", "call", cells=(Cell("search", "refund"),))
    put(shared, [one])
    found = shared.confusion(Scope(), ("tool",), WINDOWS[:1])
    assert found == {(("tool", "search"),): ({Cell("search", "refund"): 1},)}
    assert shared.confusion(Scope(), ("tool",), []) == {}
    assert shared.confusion(Scope(), (), []) == {(): ()}


FILL = """INSERT INTO judgements (Suite, Hour, RunId, Rule, Version, StartNs, Expected, Observed, Agent)
SELECT 's', toStartOfHour(toDateTime(intDiv(Ns, 1000000000), 'UTC')), toString(number), '', 1, Ns,
    [concat('tool', toString(number % 40))], [concat('tool', toString(number % 37))], toString(number % 3)
FROM (SELECT number, toUInt64({first:UInt64} + number * {step:UInt64}) AS Ns
    FROM numbers({begin:UInt64}, {n:UInt64}))"""


def test_what_is_read_grows_with_the_window_and_not_with_the_history(store: ClickHouseStore) -> None:
    days, rows, granule = 30, 100_000, 4_096
    step = days * 24 * HOUR // rows

    def read(hours: int) -> int:
        windows = [Window(T0 + 30 * HOUR, T0 + (30 + hours) * HOUR)]
        return read_by(store, lambda: store.confusion(Scope(suite=("s",)), (), windows))[0]

    def fill(begin: int, n: int) -> None:
        store._session.execute(FILL, {"first": T0, "step": step, "begin": begin, "n": n})
        store._session.execute("OPTIMIZE TABLE judgements FINAL")

    fill(0, rows // 10)
    with_a_tenth = read(1)
    fill(rows // 10, rows - rows // 10)
    with_all = read(1)
    assert with_all <= with_a_tenth + granule  # the window may lie over the edge of a granule now
    assert with_all <= 3 * granule
    assert rows // 4 < read(10 * 24) < rows // 2  # a third of the days
