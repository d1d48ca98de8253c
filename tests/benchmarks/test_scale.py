"""docs/scale.md says what the commands say, and the commands compute what the page says of them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.scale import PAGE, RATES, Costs, Plan, costs, disk_tb, need, placed
from benchmarks.scale_shards import Traffic, balance, grown, lost, traffic

ROOT = Path(__file__).parents[2]
COST = Costs(
    receive_us=50, judge_us=200, store_us=50, store_judged_us=300, bytes_in=3_000, bytes_to_store=400,
    bytes_spooled=500, disk_raw=300, disk_all=600, shared_us=10,
)  # fmt: skip


def test_the_tables_of_the_page_are_those_of_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    made = dict(re.findall(r"^## (\w+)\n\n((?:\|.*\n)+)", done.stdout, re.MULTILINE))
    page = PAGE.read_text("utf-8")
    assert set(re.findall(r"<!-- scale (\w+) -->", page)) == set(made)
    assert placed(page, made) == page, "write it again: python -m benchmarks.scale --write"


def test_a_table_without_a_place_is_an_error() -> None:
    with pytest.raises(ValueError, match="no place for the table 'x'"):
        placed("<!-- scale y -->\n<!-- end -->\n", {"x": ""})


def test_machines_follow_from_costs() -> None:
    found = need(100_000, COST, Plan(busy=0.5, spans_per_trace=10, shard_cores=20, shard_disk_tb=1e9))
    assert found.receivers == 10  # 5 cores of work, half busy
    assert found.workers == 50  # 20 cores of work, 0.4 of each left beside what all share
    assert (found.shards, found.by) == (3, "processors")
    assert need(100_000, COST, Plan(shard_disk_tb=20)).by == "disk"
    assert disk_tb(1_000_000, 1, 1) == pytest.approx(0.0864)


def test_no_number_of_workers_is_enough_where_what_all_share_fills_them() -> None:
    plan = Plan(busy=0.5, spans_per_trace=10)
    ends = 500_000
    assert need(ends - 1, COST, plan).workers > 1_000
    assert need(ends, COST, plan).workers == 0


def test_a_dearer_span_never_needs_less() -> None:
    cheap, dear = costs(), replace(costs(), receive_us=1e3, judge_us=1e3, store_judged_us=1e4)
    for rate in RATES[:2]:
        a, b = need(rate, cheap, Plan()), need(rate, dear, Plan())
        assert a.receivers <= b.receivers
        assert a.shards <= b.shards


def test_balance_is_the_fullest_beside_the_mean() -> None:
    found = balance("x", [0, 1, 2, 3, 4, 6], [1, 1, 1, 1, 1, 3], 2)
    assert found.most == 6 / 4


def test_a_lost_shard_takes_what_is_on_it() -> None:
    made = Traffic(["a"] * 4, ["b"] * 4, [1] * 4, [1] * 4, [0] * 4)
    found = lost(made, [0, 0, 0, 1], [0, 1, 1, 1], 2)
    assert (found.traces, found.runs, found.whole) == (0.75, 0.25, 0.25)


def test_doubling_moves_half_and_one_more_nearly_all() -> None:
    keys = list(range(720))
    assert grown(keys, 8, 16).elsewhere == 0.5
    assert grown(keys, 8, 9).elsewhere > 0.85


def test_traffic_is_heavy_tailed_and_the_same_for_the_same_seed() -> None:
    made = traffic(3, 5_000)
    assert made == traffic(3, 5_000)
    ordered = sorted(made.spans)
    assert ordered[2_500] in range(6, 9)
    assert ordered[-1] > 50 * ordered[2_500]
    assert made.tenants.count(0) > 5_000 / 5
