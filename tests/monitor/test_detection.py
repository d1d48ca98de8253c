"""docs/detection.md: its tables are those that benchmarks/month.py makes, of figures that are what they say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks.detection import BEGIN_NS, DAY_NS, RHYTHM, Case, Setting, detections, drawn, false_alarms
from benchmarks.month import CONFUSED, CONFUSIONS, DROPS, MONTHS, PER_DAY, RECALL, RECALLS, SHARES, table

from otel_toolselect.model.alerting import Query, Window

DOC = (Path(__file__).parents[2] / "docs" / "detection.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "settings", "case", "effects", "word"),
    [
        ("`1d`, p < 0.001", RECALLS, Case(24, RECALL, RECALL), [-d for d in DROPS], "drop of"),
        ("`1d`, above 0.02", CONFUSIONS, Case(24, CONFUSED, CONFUSED), SHARES, "share of"),
    ],
)
def test_a_row_of_the_page_comes_out_again(
    name: str, settings: list[Setting], case: Case, effects: list[float], word: str
) -> None:
    one = [setting for setting in settings if setting.name == name]
    head, _, row = table(word, one, [case], effects, range(1, MONTHS + 1))
    assert head in DOC
    assert row in DOC.splitlines()


def test_the_page_holds_every_alert_and_says_how_many_months() -> None:
    for settings in (RECALLS, CONFUSIONS):
        for setting in settings:
            rows = [line for line in DOC.splitlines() if f"| {setting.name} |" in line]
            assert [int(re.findall(r"\d+", row)[0]) for row in rows] == list(PER_DAY), setting.name
    assert f"Every cell is {MONTHS} months, seeds 1 to {MONTHS};" in DOC


def test_drawn_figures_are_as_many_and_as_good_as_they_are_said_to_be() -> None:
    source = drawn(Case(2_400, 0.9, 0.5), 14, np.random.default_rng(1), change_hour=7 * 24)
    weeks = [Window(BEGIN_NS + w * 7 * DAY_NS, BEGIN_NS + (w + 1) * 7 * DAY_NS) for w in (-1, 0, 1)]
    seen = source.observe(Query("recall"), weeks)[()]
    assert [round(o.n / (7 * 2_400), 1) for o in seen] == [1.0, 1.0, 1.0]
    assert [round(o.value or 0, 2) for o in seen] == [0.9, 0.9, 0.5]
    assert RHYTHM.sum() == pytest.approx(7)


def test_what_always_and_what_never_fires() -> None:
    of = "signal: recall, of: {tool: t}, window: 1d"
    settings = [
        Setting("half", f"{of}, condition: {{below: 0.5}}"),
        Setting("few", f"{of}, condition: {{below: 0.01}}"),
    ]
    case = Case(1_000, 0.95, 0.2)
    always, never = detections(settings, case, range(1, 6))
    assert (always.share, never.share) == (1.0, 0.0)
    assert max(always.delays) <= 48
    assert false_alarms(settings, case, range(1, 6)) == [0.0, 0.0]
