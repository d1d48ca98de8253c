"""The guide names every condition, its example policy is read, and its entry in the table is the condition's own."""

from __future__ import annotations

import re
from pathlib import Path

from otel_toolselect.gates.policy import known_conditions, read_policy
from otel_toolselect.rules.documents import parse_document

GUIDE = Path(__file__).parents[2] / "docs" / "gates.md"


def test_every_condition_is_in_the_guide_and_no_other() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", GUIDE.read_text("utf-8"), re.M)) == set(known_conditions())


def test_the_example_policy_is_read() -> None:
    block = re.search(r"```yaml\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
    assert block is not None
    policy = read_policy(*parse_document(block[1], "gate.yaml"))
    assert policy.on["accuracy"]["at_most"] == 0.05
    assert "tool_recall" in policy.on
    assert "paired" not in policy.on
