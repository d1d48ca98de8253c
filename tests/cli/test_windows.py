"""`toolselect confusion --window`: decisions that live judging keeps, by window, zone and dimension."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from otel_toolselect.app.windows import Cut
from otel_toolselect.errors import UsageError
from otel_toolselect.model.alerting import Span, Window, WindowSpec
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.windowed import windowed, windows_between
from otel_toolselect.store import open_store

from .conftest import Cli

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3_600 * 10**9


def ns(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()) * 10**9


def decided(number: int, at: str, got: str, agent: str = "a", suite: str = "s", rule: str = "") -> Decision:
    cells = (Cell("search", got),)
    return Decision(
        suite, rule, f"r{number}", "t", "c", ns(at), "pass", got, "call", cells=cells, agent=agent,
        origin="rule" if rule else "suite",
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    dsn = f"chdb://{tmp_path_factory.mktemp('windows')}"
    store = open_store(dsn)
    rows = [
        decided(1, "2026-10-24T12:00", "search"),
        decided(2, "2026-10-25T00:30", "refund"),  # the day on which the clocks go back: 25 hours
        decided(3, "2026-10-25T23:30", "search", agent="b"),
        decided(4, "2026-10-26T00:00", "search", suite="guard", rule="few"),
    ]
    store.add_judged([], rows)
    store.close()
    return dsn


def test_days_of_a_zone_by_agent(cli: Cli, place: str) -> None:
    asked = (
        "confusion",
        "--store",
        place,
        "--suite",
        "s",
        "--zone",
        "Europe/Berlin",
        "--window",
        "1d",
        "--by",
        "agent",
    )
    asked += ("--since", "2026-10-24T12:00+02:00", "--until", "2026-10-26T12:00+01:00")
    found = json.loads(cli(*asked, "--format", "json").stdout)
    assert (found["schema"], found["zone"]) == ("toolselect.windows/1", "Europe/Berlin")
    rows = [(w["start"], w["by"]["agent"], w["right"]["passed"], w["n"]) for w in found["windows"]]
    days = ("2026-10-23T22:00:00", "2026-10-24T22:00:00", "2026-10-25T23:00:00")
    assert [(start[:19], agent, passed, n) for start, agent, passed, n in rows] == [
        (days[0], "a", 1, 1), (days[0], "b", 0, 0),
        (days[1], "a", 0, 1), (days[1], "b", 1, 1),
        (days[2], "a", 0, 0), (days[2], "b", 0, 0),
    ]  # fmt: skip
    refund = found["windows"][2]["confusion"]
    assert refund["cells"] == [{"expected": "search", "observed": "refund", "n": 1}]
    assert refund["tools"]["search"]["recall_ci95"][0] == 0.0
    assert found["windows"][1]["right"]["ci95"] is None
    shown = cli(*asked).stdout
    assert "2026-10-25 00:00 CEST" in shown
    assert "search -> refund (1)" in shown


def test_one_window_shows_its_matrix_and_policies_count_apart(cli: Cli, place: str) -> None:
    asked = ("confusion", "--store", place, "--window", "1w", "--zone", "Europe/Berlin")
    asked += ("--since", "2026-10-26", "--until", "2026-10-27")
    shown = cli(*asked, "--policy", "guard/few").stdout
    assert "confusion matrix" in shown.lower()
    assert "100.0 % (1/1)" in shown
    assert cli(*asked, "--policy", "guard/other").returncode == 3


def cut(**changes: object) -> Cut:
    asked = Cut("1h", None, "UTC", "2026-10-26", "2026-10-27", None, None, None)
    return replace(asked, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"slide": "2h"}, "leave out"),
        ({"slide": "1d"}, "days and weeks slide"),
        ({"slide": "soon"}, "is no length"),
        ({"window": "0h"}, "is no length"),
        ({"by": ["mood"]}, "is not one of suite"),
        ({"zone": "Mars/Base"}, "no time zone"),
        ({"since": "2020-01-01"}, "more than 10,000 windows"),
        ({"until": "2026-10-25"}, "--until is not after --since"),
    ],
)
def test_bad_usage_says_what_to_do(changes: dict[str, object], says: str) -> None:
    def ask(asked: Cut) -> None:
        asked.windows()
        asked.dimensions()

    ask(cut())
    with pytest.raises(UsageError, match=says):
        ask(cut(**changes))


def test_what_does_not_go_together_is_bad_usage(cli: Cli) -> None:
    assert "do not go together" in cli("confusion", "--window", "1h", "--trend", "day").stderr
    alone = cli("confusion", "--slide", "1h")
    assert (alone.returncode, "only together with --window" in alone.stderr) == (2, True)


def test_windows_that_slide_all_hold_what_they_overlap() -> None:
    spec = WindowSpec(Span(1, "h"), Span(20, "m"))
    found = windows_between(spec, 100 * HOUR + 1, 101 * HOUR)
    third = HOUR // 3
    assert found == [Window(100 * HOUR + k * third, 101 * HOUR + k * third) for k in range(-2, 3)]
    assert windows_between(spec, 5, 5) == []


def test_a_series_is_there_in_windows_without_it() -> None:
    windows = [Window(0, 1), Window(1, 2)]
    counts = {(("agent", "a"),): [{Cell("x", "x"): 3, Cell("x", "y"): 1}, {}]}
    first, second = windowed(counts, windows)
    assert (first.right.passed, first.right.n, first.confusion.tools["x"].recall) == (3, 4, 0.75)
    assert (second.right.rate, second.confusion.worst_recall) == (None, None)
