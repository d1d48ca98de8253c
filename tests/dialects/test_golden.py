"""Golden files: captured spans in, expected events out."""

from __future__ import annotations

import os

import pytest

from otel_toolselect.reports._records import event_lines
from tests.dialects.captures import ALL, Scenario, runs


@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_events_are_as_written(scenario: Scenario) -> None:
    found = "".join(event_lines(runs(scenario)))
    if os.environ.get("TOOLSELECT_GOLDEN") == "write":
        scenario.golden.parent.mkdir(exist_ok=True)
        scenario.golden.write_text(found, encoding="utf-8")
    assert scenario.golden.read_text(encoding="utf-8") == found
