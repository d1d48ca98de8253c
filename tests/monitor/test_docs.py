"""docs/alerts.md: its examples are carried out, its table is that of the signals."""

from __future__ import annotations

import re
from pathlib import Path

from otel_toolselect.app.alertfiles import rehearse_alerts
from otel_toolselect.app.rulefiles import check_files
from otel_toolselect.model.alerting import StateWord
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.rules.alertfiles import ALERT_KEYS
from otel_toolselect.rules.templates import FIELDS

DOC = Path(__file__).parents[2] / "docs" / "alerts.md"
TEXT = DOC.read_text("utf-8")


def test_the_example_is_tested_by_the_example(tmp_path: Path) -> None:
    alerts, tests = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)
    (tmp_path / "support.alerts.yaml").write_text(alerts)
    (tmp_path / "support.alerts.test.yaml").write_text(tests)
    assert [c.problems for c in check_files([str(tmp_path)])] == [(), ()]
    assert [o for o in rehearse_alerts([str(tmp_path)]) if not o.passed] == []


def test_the_table_lists_every_signal() -> None:
    rows = ["| signal | kind | of | what |", "| --- | --- | --- | --- |"]
    for s in SIGNALS.values():
        needs = f"; needs `{'`, `'.join(s.needs)}`" if s.needs else ""
        implied = f"; without a condition: {s.limit[0]} {s.limit[1]}" if s.limit else ""
        rows.append(f"| `{s.name}` | {s.kind} ({s.unit}) | {s.of} | {s.about}{needs}{implied} |")
    assert re.search(r"<!-- signals -->\n(.*?)\n<!-- /signals -->", TEXT, re.S)[1].splitlines() == rows  # type: ignore[index]


def test_nothing_is_left_out() -> None:
    for word in (*ALERT_KEYS, *FIELDS, *StateWord.__args__):  # type: ignore[attr-defined]
        assert re.search(rf"\b{word}\b", TEXT), word
