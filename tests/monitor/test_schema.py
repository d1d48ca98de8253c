"""The JSON Schema takes the alert files that the loader takes, and catches what an editor can catch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.rules import _nodes, jsonschema
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.problems import Problems
from tests.monitor.test_alertfiles import FULL

DATA = Path(__file__).parent / "data"
ALERT = "id: a, window: 5m, signal: accuracy"


def value_of(text: str) -> Any:
    root = read_yaml(text, Problems("x"))
    assert root is not None
    return _nodes.to_json(root)


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema_rs.validator_for(jsonschema.schema())


@pytest.mark.parametrize("text", [FULL, *(p.read_text() for p in sorted(DATA.glob("*.yaml")))])
def test_what_the_loader_takes(validator: Any, text: str) -> None:
    assert [f"{e.instance_path}: {e.message}" for e in validator.iter_errors(value_of(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "{alerts: a}",
        "{alerts: a, list: []}",
        "{alerts: a, list: [{id: a}]}",
        "{alerts: a, list: [{id: a, signal: acuracy}]}",
        f"{{alerts: a, list: [{{{ALERT}, condition: {{above: 0.1, below: 0.2}}}}]}}",
        f"{{alerts: a, list: [{{{ALERT}, condition: {{blow: 0.2}}}}]}}",
        "{alerts: a, list: [{id: a, signal: accuracy, window: 5}]}",
        f"{{alerts: a, list: [{{{ALERT}, of: {{agnt: x}}}}]}}",
        f"{{alerts: a, list: [{{{ALERT}, by: [agent, agent]}}]}}",
        "{alerts_file: a}",
        "{alerts_file: a, tests: [{name: a, start: b, every: 5m, series: [], expect: []}]}",
        "{alerts_file: a, tests: [{name: a, start: b, every: 5m, series: [], expect: [{at: x, alert: a, state: ok}]}]}",
    ],
)
def test_mistakes_are_caught(validator: Any, text: str) -> None:
    assert not validator.is_valid(value_of(text))


def test_every_signal_is_offered_with_its_meaning() -> None:
    alert = jsonschema.schema()["$defs"]["alerts_file"]["properties"]["list"]["items"]
    offered = alert["properties"]["signal"]["anyOf"]
    assert [entry["const"] for entry in offered] == list(SIGNALS)
    assert all(len(entry["description"]) > 20 for entry in offered)
