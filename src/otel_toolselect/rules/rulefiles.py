"""`rules: NAME` files: expectations of unlabelled traffic (R47, design section 6).

    rules: shop-safety
    version: 1
    policy: {...}                  # as in a suite
    cases:                         # or `entries`
      - id: no-refund-before-look-up
        match: {agent: support}    # which runs (see `selection`); without it every run
        expect: {never: ["issue_refund before search_orders ok"]}
        severity: critical         # info | warning | critical; warning without it
        owner: payments-team       # who is told; the failure's likely owner without it
        rationale: money must not move on a guess

Each run is judged under each rule that matches it, nested runs included: a policy holds for sub-agents too. `expect`
has the vocabulary of suites, and mistakes have position and way out as there.

What suites check always (arguments against the offered schema, ghost tools, outcomes of calls) would make every rule
fail for reasons that are not its own. So here it counts only where a rule asks for it: `checks: [schema, ghost]`,
beside `expect` or in its place, and then it decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from otel_toolselect.errors import SuiteError
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Fields, Node, Scalar, clip
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.expect import compile_expectation, kinds, parse_expect
from otel_toolselect.rules.loader import read_text
from otel_toolselect.rules.policy import Policy, parse_policy
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.profile import JSON_VALUES, Profile, parse_matching
from otel_toolselect.rules.selection import Match, parse_match
from otel_toolselect.rules.selectors import AnyCall
from otel_toolselect.rules.suite import Case, Expectation, Suite
from otel_toolselect.rules.view import RunView

KEYS = ("rules", "version", "policy", "matching", "cases", "entries")
ENTRY_KEYS = ("id", "match", "expect", "checks", "severity", "owner", "rationale", "tags", "risk", "matching")
SEVERITIES = ("info", "warning", "critical")
_SYNONYMS = {"when": "match", "level": "severity", "team": "owner", "name": "id", "description": "rationale"}
_Found = Mapping[str, tuple[Scalar, Node]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry. `case` holds what is expected, under the rule's id."""

    id: str
    case: Case
    match: Match = field(default_factory=Match)
    severity: str = "warning"
    owner: str | None = None
    rationale: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class RuleFile:
    name: str
    rules: tuple[Rule, ...]
    policy: Policy = field(default_factory=Policy)
    version: str = ""
    path: str = ""

    @property
    def suite(self) -> Suite:
        """The rules as the judge takes them: one case per rule."""
        return Suite(self.name, tuple(r.case for r in self.rules), self.policy, self.version, self.path)


def load_rules(path: str | Path) -> RuleFile:
    """Raises SuiteError with every problem, InputError when the file cannot be read."""
    return parse_rules(read_text(path), path=str(path))


def parse_rules(text: str, *, path: str) -> RuleFile:
    problems = Problems(path)
    made = _file(read_yaml(text.removeprefix("\ufeff"), problems), path, problems)
    if problems.found:
        raise SuiteError(list(dict.fromkeys(problems.found)))
    return made


def _file(root: Node | None, path: str, problems: Problems) -> RuleFile:
    empty = RuleFile("", (), path=path)
    if root is None:
        if not problems.found:
            problems.at(1, 1, "the file is empty", "write rules: NAME and cases: [...]")
        return empty
    found = problems.fields(root, "the rules", KEYS)
    if found is None:
        return empty
    name = _text(found, "rules", problems)
    if "rules" not in found:
        problems.add(root, "the rules have no name", "write rules: NAME")
    version = _text(found, "version", problems) or ""
    profile = parse_matching(found["matching"][1], problems) if "matching" in found else None
    policy = parse_policy(found["policy"][1] if "policy" in found else None, version, problems)
    if "cases" in found and "entries" in found:
        problems.add(found["entries"][0], "the rules stand under cases and under entries", "keep one of them")
    listed = found.get("cases") or found.get("entries")
    if listed is None:
        problems.add(root, "the file has no rule", "write cases: [{id: ..., match: {...}, expect: {...}}]")
        return empty
    rules = _rules(listed, policy, profile or JSON_VALUES, problems)
    return RuleFile(name or "", tuple(rules), policy, version, path)


def _rules(listed: tuple[Scalar, Node], policy: Policy, profile: Profile, problems: Problems) -> list[Rule]:
    key, node = listed
    entries = problems.items(node, key.text, example="[{id: ..., match: {...}, expect: {...}}]")
    if not entries:
        problems.add(node, "the file has no rule", "a file without rules guards nothing")
    kept: dict[str, Rule] = {}
    for entry in entries:
        rule = _rule(entry, policy, profile, problems)
        if rule is None:
            continue
        if rule.id in kept:
            at = (entry.get("id") if isinstance(entry, Fields) else None) or entry
            said = f"the rule id {clip(rule.id)!r} stands twice"
            problems.add(at, said, f"first on line {kept[rule.id].line}; ids are unique")
            continue
        kept[rule.id] = rule
    return list(kept.values())


def _rule(node: Node, policy: Policy, profile: Profile, problems: Problems) -> Rule | None:
    found = problems.fields(node, "a rule", ENTRY_KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    rule_id = _text(found, "id", problems)
    if "id" not in found:
        problems.add(node, "a rule has no id", "write id: NAME")
    match = parse_match(found["match"][1], policy, problems) if "match" in found else Match()
    severity = problems.choice(found["severity"][1], "severity", SEVERITIES) if "severity" in found else None
    if "matching" in found:
        profile = parse_matching(found["matching"][1], problems) or profile
    if "expect" not in found and "checks" not in found:
        problems.add(node, f"the rule {clip(rule_id or '?')!r} expects nothing", "write expect: {...}")
        return None
    draft = Draft(problems, policy, profile=profile)
    always = _always(found["checks"][1], problems) if "checks" in found else []
    if "schema" in always:
        # arguments are judged on calls whose tool was right (R25); this rule is about every offered tool
        draft.wants(AnyCall(), may_start=False)
    expect = parse_expect(found["expect"][1], draft) if "expect" in found else compile_expectation(draft)
    expect = _only(expect, always)
    if rule_id is None:
        return None
    rationale = _text(found, "rationale", problems)
    risk = _text(found, "risk", problems)
    case = Case(rule_id, expect, tags=_tags(found, problems), risk=risk, rationale=rationale, line=node.line)
    owner = _text(found, "owner", problems)
    return Rule(rule_id, case, match, severity or "warning", owner, rationale, node.line)


@dataclass(frozen=True, slots=True)
class _Deciding:
    """A check whose findings move the layers, whatever it does in suites."""

    check: Check
    decides: bool = True

    @property
    def name(self) -> str:
        return self.check.name

    @property
    def layer(self) -> Layer:
        return self.check.layer

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        return self.check.evaluate(view)


def always_on() -> list[str]:
    """The checks that suites make without being told."""
    return [name for name, kind in kinds().items() if kind.implicit]


def _always(node: Node, problems: Problems) -> list[str]:
    listed = problems.items(node, "checks", example="[schema, ghost]")
    names = [problems.choice(item, "an entry of checks", always_on()) for item in listed]
    if not listed:
        problems.add(node, "checks lists nothing", f"known: {', '.join(always_on())}")
    return [name for name in names if name is not None]


def _only(expect: Expectation, wanted: Sequence[str]) -> Expectation:
    """The expectation with those of the always-on checks that the rule asks for."""
    implicit = set(always_on())
    checks = [
        _Deciding(c) if c.name in wanted else c for c in expect.checks if c.name in wanted or c.name not in implicit
    ]
    return replace(expect, checks=tuple(checks))


def _text(found: _Found, key: str, problems: Problems) -> str | None:
    return problems.text(found[key][1], key) if key in found else None


def _tags(found: _Found, problems: Problems) -> Mapping[str, str]:
    if "tags" not in found:
        return {}
    node = found["tags"][1]
    if not isinstance(node, Fields):
        problems.add(node, "tags must be a mapping", "write {bucket: core}")
        return {}
    texts = {key.text: problems.text(value, f"the tag {clip(key.text, 40)!r}") for key, value in node.entries}
    return {name: text for name, text in texts.items() if text is not None}
