"""`rules:` files: typed, matched, and every mistake with its place (R47)."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect.errors import InputError, SuiteError
from otel_toolselect.model.runs import Run
from otel_toolselect.rules.rulefiles import load_rules, parse_rules
from tests.builders import run

HEAD = """rules: shop
version: 2
policy: {tools: {search_orders: {effect: read}, issue_refund: {effect: write}}, aliases: {find_orders: search_orders}}
cases:
"""
WHOLE = """
  - id: look-first
    match: {agent: [support, billing], service: shop, model: {matches: ^gpt}, tools_offered: [find_orders],
            request: "(?i)refund", attributes: {deployment.environment: production, shards: 2, on: [true, x]}}
    expect: {never: [issue_refund before search_orders ok]}
    severity: critical
    owner: payments
    rationale: money
    tags: {kind: safety}
    risk: high
  - {id: all, expect: {never: [issue_refund]}}
"""


def problems_of(entries: str, head: str = HEAD) -> list[str]:
    try:
        parse_rules(head + entries, path="r.yaml")
    except SuiteError as error:
        return [str(p).removeprefix("r.yaml:") for p in error.problems]
    return []


def test_a_whole_file_is_typed() -> None:
    found = parse_rules(HEAD + WHOLE, path="r.yaml")
    assert (found.name, found.version, found.path) == ("shop", "2", "r.yaml")
    first, second = found.rules
    assert (first.id, first.severity, first.owner, first.rationale, first.line) == (
        "look-first", "critical", "payments", "money", 6,
    )  # fmt: skip
    assert first.match.tools_offered == ("search_orders",)
    assert (first.case.risk, first.case.tags) == ("high", {"kind": "safety"})
    assert (second.severity, second.owner, second.match.agent) == ("warning", None, None)
    assert [case.id for case in found.suite.cases] == ["look-first", "all"]
    assert found.suite.policy.version.startswith("2@")
    assert parse_rules(HEAD.replace("cases", "entries") + WHOLE, path="r.yaml").rules == found.rules


def seen(**fields: object) -> Run:
    values: dict[str, object] = {
        "agent": "support",
        "service": "shop",
        "model": "gpt-9",
        "tools": ["find_orders", "issue_refund"],
        "request": "a Refund please",
        "attributes": {"deployment.environment": "production", "shards": 2.0, "on": True, "more": 1},
    }
    return run(**(values | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        (seen(), True),
        (seen(agent="billing"), True),
        (seen(agent="sales"), False),
        (seen(agent=None), False),
        (seen(service="other"), False),
        (seen(model="claude"), False),
        (seen(model=None), False),
        (seen(tools=["search_orders"]), True),
        (seen(tools=["issue_refund"]), False),
        (seen(tools=None), False),
        (seen(request="find it"), False),
        (seen(request=None), False),
        (seen(attributes={}), False),
        (seen(attributes={"deployment.environment": "production", "shards": "2", "on": True}), False),
        (seen(attributes={"deployment.environment": "production", "shards": 2, "on": 1}), False),
        (seen(attributes={"deployment.environment": "production", "shards": 2, "on": "x"}), True),
    ],
)
def test_matching(given: Run, fits: bool) -> None:
    rules = parse_rules(HEAD + WHOLE, path="r.yaml")
    assert rules.rules[0].match.fits(given, rules.policy) is fits
    assert rules.rules[1].match.fits(given, rules.policy)


RULE = "  - {id: a, expect: {never: [issue_refund]}, "


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (RULE + "severity: fatal}", "5:56: severity cannot be 'fatal' (known: critical, info, warning)"),
        (RULE + "sevrity: info}", "5:46: unknown key 'sevrity' in a rule (did you mean 'severity'?)"),
        (RULE + "when: {}}", "did you mean 'match'?"),
        (RULE + "match: {agnt: x}}", "unknown key 'agnt' in match (did you mean 'agent'?)"),
        (RULE + "match: {tools: [x]}}", "did you mean 'tools_offered'?"),
        (RULE + "match: {agent: []}}", "no run would match"),
        (RULE + "match: {agent: {match: x}}}", "did you mean 'matches'?"),
        (RULE + "match: {model: {matches: '(?=a)'}}}", "RE2 has no look-around"),
        (RULE + "match: {request: '(a'}}", "is not an RE2 pattern"),
        (RULE + "match: {attributes: [a]}}", "attributes must be a mapping"),
        (RULE + "match: {attributes: {a: {b: 1}}}}", "the attribute 'a' must be a value"),
        (RULE + "match: x}", "match must be a mapping"),
        (RULE + "prompt: x}", "unknown key 'prompt' in a rule"),
        (RULE + "owner: []}", "owner must be a text"),
        (RULE + "match: {}}\n" + RULE + "match: {}}", "6:10: the rule id 'a' stands twice (first on line 5"),
        ("  - {id: a}", "the rule 'a' expects nothing"),
        ("  - {expect: {never: [issue_refund]}}", "a rule has no id"),
        ("  - {id: a, expect: {never: [isue_refund]}}", "did you mean 'issue_refund'?"),
        ("  - {id: a, expect: {}}", "expect is empty"),
        ("  - x", "a rule must be a mapping"),
        ("  []", "a file without rules guards nothing"),
    ],
)
def test_mistakes_have_their_place(entries: str, said: str) -> None:
    found = problems_of(entries)
    assert any(said in p for p in found), found


def test_mistakes_of_the_file() -> None:
    assert "the file has no rule" in problems_of("", "rules: x\n")[0]
    assert "the file is empty" in problems_of("", "")[0]
    assert any("no name" in p for p in problems_of("cases: []", ""))
    assert any("keep one" in p for p in problems_of("rules: x\ncases: [1]\nentries: [2]", ""))


def test_files(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(HEAD + WHOLE)
    assert len(load_rules(tmp_path / "r.yaml").rules) == 2
    with pytest.raises(InputError, match=r"gone\.yaml"):
        load_rules(tmp_path / "gone.yaml")
