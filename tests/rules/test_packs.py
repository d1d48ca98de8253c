"""The shipped packs: each loads, its tests pass, and each rule is seen to fail and to be content."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect.app import rulefiles
from otel_toolselect.assemble.decision import read_no_call
from otel_toolselect.rules.rulefiles import load_rules
from otel_toolselect.rules.ruletests import load_tests

ROOT = Path(__file__).parents[2] / "rules"
PACKS = ["safety", "efficiency", "grounding", "mcp", "coding-agent", "support-agent"]


def test_every_pack_is_listed() -> None:
    assert sorted(PACKS) == sorted(p.stem for p in ROOT.glob("*.yaml") if not p.stem.endswith(".test"))


@pytest.mark.parametrize("pack", PACKS)
def test_the_tests_of_a_pack_pass(pack: str) -> None:
    outcomes = rulefiles.rehearse_files([str(ROOT / f"{pack}.test.yaml")])
    assert [o for o in outcomes if not o.passed] == []


@pytest.mark.parametrize("pack", PACKS)
def test_every_rule_is_seen_to_fail_and_not_to_fail(pack: str) -> None:
    rules = load_rules(ROOT / f"{pack}.yaml")
    assert rules.name == pack
    seen = [e for t in load_tests(ROOT / f"{pack}.test.yaml", read_no_call).tests for e in t.expect]
    for rule in rules.rules:
        assert rule.rationale, rule.id
        statuses = {e.status for e in seen if e.rule == rule.id}
        assert "fail" in statuses, f"{rule.id} is never seen to fail"
        assert statuses & {"pass", "n/a"}, f"{rule.id} is never seen to be content"
