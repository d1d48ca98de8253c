"""`only_if`: conditional steps (R28), selection and sequencing layer.

`{when: {tool: check_stock, path: $.in_stock, equals: false}, never: [place_order]}`: once a call of the tool has
returned, at the path, a value that fits `equals` (a value or any argument matcher; without it any value will do), the
consequences hold, until a later result of the same tool says otherwise:

- `never`: none of these calls is decided meanwhile;
- `eventually`: one of these calls is decided meanwhile, each of those listed; a no-call label names how the run ends;
- `first`: the next consequential call decided after the result, or the run's outcome, is one of these.

A call counts as decided after a result when the result was there (`view.CallView.knew`). A run in which the condition
never holds is not concerned. A result that the trace does not hold is needs_review.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import json_equal
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._literal import Literal
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.match.from_result import returned_values
from otel_toolselect.rules.matching import Matcher, Scope, parse_value
from otel_toolselect.rules.paths import Path, compile_path
from otel_toolselect.rules.selectors import NoCallOutcome, Selector, said
from otel_toolselect.rules.view import CallView, RunView

NAME = "only_if"
_THEN = ("never", "eventually", "first")


@dataclass(frozen=True, slots=True)
class Rule:
    tool: str
    path: Path | None
    equals: Matcher | None
    never: tuple[Selector, ...]
    eventually: tuple[Selector, ...]
    first: tuple[Selector, ...]
    condition: str

    def holds(self, call: CallView, view: RunView) -> bool | None:
        """Whether a call's result fulfils the condition; None when it is not known."""
        if call.result is None or isinstance(call.result.value, Unknown):
            return None
        values = returned_values(call.result.value, self.path)
        if self.equals is None:
            return bool(values)
        if isinstance(self.equals, Literal):  # the usual case, and no reason need be put into words
            wanted = self.equals.value
            return any(json_equal(wanted, v) for v in values)
        scope = Scope(call, view)
        return any(self.equals.mismatch(v, scope) is None for v in values)


@dataclass(slots=True)
class _Seen:
    """What one run showed of all rules."""

    held: list[str]
    unknown: list[str]
    forbidden: list[tuple[str, str]]
    missing: list[tuple[str, str]]
    wrong: list[str]


@dataclass(frozen=True, slots=True)
class OnlyIfCheck:
    rules: tuple[Rule, ...]
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        seen = _Seen([], [], [], [], [])
        for rule in self.rules:
            _follow(rule, view, seen)
        if seen.forbidden or seen.missing or seen.wrong:
            return _failed(seen)
        if seen.unknown:
            text = f"whether {' or '.join(dict.fromkeys(seen.unknown))} is not known: the result is not recorded"
            evidence: dict[str, Any] = {"conditions": list(dict.fromkeys(seen.unknown))}
            return tuple(Finding(NAME, layer, "needs_review", text, evidence) for layer in _LAYERS)
        if not seen.held:
            return ()
        text = f"kept, as {' and '.join(dict.fromkeys(seen.held))}"
        return tuple(Finding(NAME, layer, "pass", text, {"conditions": seen.held}) for layer in _LAYERS)


_LAYERS: tuple[Layer, Layer] = ("selection", "sequencing")


def _failed(seen: _Seen) -> Sequence[Finding]:
    texts = [f"{name} was called although {why}" for name, why in seen.forbidden]
    texts += [f"missing call {name}, as {why}" for name, why in seen.missing] + seen.wrong
    text = "; ".join(dict.fromkeys(texts))
    forbidden = list(dict.fromkeys(name for name, _ in seen.forbidden))
    missing = list(dict.fromkeys(name for name, _ in seen.missing))
    chosen: dict[str, Any] = {"forbidden_observed": forbidden, "missing_required": missing}
    order: dict[str, Any] = {"constraints": [{"tool": name, "reason": why} for name, why in seen.forbidden]}
    if not forbidden and not seen.wrong:
        chosen["missing"] = order["missing"] = missing
    return (Finding(NAME, "selection", "fail", text, chosen), Finding(NAME, "sequencing", "fail", text, order))


def _follow(rule: Rule, view: RunView, seen: _Seen) -> None:
    """Each result of the rule's tool rules over the calls decided between it and the tool's next result."""
    checks = [c for c in view.calls if c.name == rule.tool and c.ok is not False]
    checks.sort(key=lambda c: (c.result.seq if c.result else c.seq, c.seq))
    for check, after in zip_longest(checks, checks[1:]):
        holds = rule.holds(check, view)
        if holds is None:
            seen.unknown.append(rule.condition)
        elif holds:
            seen.held.append(rule.condition)
            window = [c for c in view.calls if c.knew(check) and not (after is not None and c.knew(after))]
            _judge(rule, window, after is None, view, seen)


def _judge(rule: Rule, window: Sequence[CallView], last: bool, view: RunView, seen: _Seen) -> None:
    seen.forbidden += [(c.name, rule.condition) for c in window if any(s.matches(c) for s in rule.never)]
    if last:
        # until the run ends nothing is late; a later result of the tool takes the condition back
        for s in rule.eventually:
            ended = isinstance(s, NoCallOutcome) and s.means(view.label)
            if not ended and not any(s.matches(c) for c in window):
                seen.missing.append((s.label, rule.condition))
    if not rule.first:
        return
    step = next((c for c in window if c.consequential), None)
    if step is None and last and not any(s.means(view.label) for s in rule.first):
        seen.missing.append((said(rule.first), rule.condition))
    elif step is not None and not any(s.matches(step) for s in rule.first):
        seen.wrong.append(f"{step.name} came next although {rule.condition}; expected {said(rule.first)}")


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        example = "[{when: {tool: A, path: $.x, equals: false}, never: [B]}]"
        rules = (_rule(item, draft) for item in draft.problems.items(node, NAME, example=example))
        draft.configs[NAME] = tuple(r for r in rules if r is not None)

    def finish(self, draft: Draft) -> Check | None:
        rules = draft.configs.get(NAME, ())
        return OnlyIfCheck(rules) if rules else None


def _rule(node: Node, draft: Draft) -> Rule | None:
    found = draft.problems.fields(node, "an entry of only_if", ("when", *_THEN))
    if found is None:
        return None
    if "when" not in found:
        draft.problems.add(node, "an entry of only_if has no 'when'", "write when: {tool: A, path: $.x, equals: false}")
        return None
    then = {name: _selectors(found[name][1], name, draft) for name in _THEN if name in found}
    if not then:
        draft.problems.add(node, "an entry of only_if has no consequence", "add never, eventually or first")
    when = draft.problems.fields(found["when"][1], "when", ("tool", "path", "equals"))
    if when is None or "tool" not in when:
        if when is not None:
            draft.problems.add(found["when"][1], "when names no tool", "write when: {tool: A, path: $.x}")
        return None
    text = draft.problems.text(when["tool"][1], "when.tool")
    tool = draft.tool(text, when["tool"][1]) if text is not None else None
    path = compile_path(when["path"][1], "when.path", draft.problems) if "path" in when else None
    equals = parse_value(when["equals"][1], draft) if "equals" in when else None
    if tool is None or ("path" in when and path is None) or ("equals" in when and equals is None):
        return None
    where = f" at {path.text}" if path is not None else ""
    fits = equals.describe if equals is not None else "a value"
    condition = f"{tool} returned {fits}{where}"
    never, eventually, first = (then.get(name, ()) for name in _THEN)
    return Rule(tool, path, equals, never, eventually, first, condition)


def _selectors(node: Node, name: str, draft: Draft) -> tuple[Selector, ...]:
    found = tuple(s for s, _ in draft.selectors(node, name, outcomes=name != "never"))
    if name != "never":
        draft.wants(*(s for s in found if not isinstance(s, NoCallOutcome)), may_start=False)
    if not found:
        draft.problems.add(node, f"{name} of an entry of only_if lists nothing")
    return found


PLUGIN = _Kind()
