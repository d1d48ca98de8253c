"""The examples of docs/rule-tests.md are what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from otel_toolselect.app import rulefiles
from otel_toolselect.rules import _nodes, jsonschema
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.problems import Problems
from tests.cli import _spans

DOC = Path(__file__).parents[2] / "docs" / "rule-tests.md"


def test_the_example_is_tested_by_the_example(tmp_path: Path) -> None:
    rules, tests = re.findall(r"```yaml\n(.*?)```", DOC.read_text("utf-8"), re.S)
    (tmp_path / "shop.yaml").write_text(rules)
    (tmp_path / "shop.test.yaml").write_text(tests)
    trace = json.loads(_spans.agent_trace(1, "refund A-1", "Done.", ("search_orders", {}, [])))
    resource = trace["resourceSpans"][0]["resource"]["attributes"]
    resource.append({"key": "deployment.environment", "value": {"stringValue": "production"}})
    (tmp_path / "captured.jsonl").write_text(json.dumps(trace).replace('"shop"', '"support"'))
    assert [c.problems for c in rulefiles.check_files([str(tmp_path)])] == [(), ()]
    assert [o for o in rulefiles.rehearse_files([str(tmp_path)]) if not o.passed] == []


@pytest.mark.parametrize("index", [0, 1])
def test_the_schema_takes_the_examples(index: int) -> None:
    text = re.findall(r"```yaml\n(.*?)```", DOC.read_text("utf-8"), re.S)[index]
    root: Any = read_yaml(text, Problems("doc"))
    jsonschema_rs.validator_for(jsonschema.schema()).validate(_nodes.to_json(root))
