"""Columns that say nothing in any row of an insert are not sent: what is read back is the same all the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pytest

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.store import columns as c
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.decision_rows import decision_columns
from otel_toolselect.store.run_rows import run_columns
from otel_toolselect.store.verdict_rows import verdict_columns

from .builders import T0, decision, run, verdict

BARE_RUN = Run("r9", "t1", ("t1",), (), start_ns=T0)
BARE_VERDICT = RunVerdict("r9", "t1", "s", "", "none", "none", {}, start_ns=T0)
BARE_DECISION = Decision("s", "", "r9", "t1", "", T0, "n/a", "none", "none")


def test_bare_rows_send_few_columns() -> None:
    assert "Tags" not in verdict_columns([BARE_VERDICT], 1)
    assert not [name for name in verdict_columns([BARE_VERDICT], 1) if "." in name or name == "Request"]
    assert not {"History", "FinalText", "Attempt"} & run_columns([BARE_RUN], [None], 1).keys()
    assert (
        not {"Ghosts", "Calls", "Loops", "Expected", "Selection", "CostUsd"}
        & decision_columns([BARE_DECISION], 1).keys()
    )


@pytest.mark.parametrize("full", [False, True], ids=["alone", "beside a full one"])
def test_bare_rows_are_read_as_they_were(store: ClickHouseStore, full: bool) -> None:
    # 0 and "" are values where null is another: they are sent
    empty = dataclasses.replace(BARE_RUN, run_id="r8", final_text="", attempt=0, label="", input_tokens=0)
    runs = [empty, BARE_RUN, *([run()] if full else [])]
    verdicts = [BARE_VERDICT, *([verdict()] if full else [])]
    decisions = [BARE_DECISION, *([decision()] if full else [])]
    store.write_runs(runs)
    store.write_verdicts(verdicts)
    store.add_judged([], decisions)

    def by_id(rows: Sequence[Run] | Sequence[RunVerdict] | Sequence[Decision]) -> list[object]:
        return sorted(rows, key=lambda row: row.run_id)

    assert list(store.runs()) == by_id(runs)
    assert by_id(list(store.verdicts())) == by_id(verdicts)
    assert by_id(list(store.decisions())) == by_id(decisions)


def test_one_pass_over_rows() -> None:
    assert c.attributes([], ("run_id", "attempt")) == {"run_id": (), "attempt": ()}
    assert c.attributes([BARE_RUN, run()], ("run_id", "attempt")) == {"run_id": ("r9", "r1"), "attempt": (None, None)}
    found = c.known(
        [BARE_RUN, run(attempt=0)], {"Id": ("run_id", c.TEXT), "A": ("attempt", c.INT64), "B": ("suite", c.TEXT)}
    )
    assert {name: values.to_pylist() for name, values in found.items()} == {"Id": [b"r9", b"r1"], "A": [None, 0]}
    assert c.grouped([(1, 2), (), (3,)], pa.array([1, 2, 3])).to_pylist() == [[1, 2], [], [3]]
