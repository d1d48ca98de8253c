"""`never`: what must not happen (R2, R27), selection layer; "X before Y" also sequencing.

- `update_user`, `effect:write`: no such call, at any place of the run. A no-call label forbids that outcome.
- `"X before Y"`: no call of X unless a call of Y stands earlier in the run.
- `"X before Y ok"`: no call of X unless an earlier call of Y *succeeded and its result was there* when X was decided
  (two calls in one message do not wait for each other). When every earlier Y has no known outcome, it is
  needs_review.

A forbidden call fails whatever else the run did: no other check can make up for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer, Status
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.ordering import Before, Violation
from otel_toolselect.rules.selectors import Effect, NoCallOutcome, Selector, Tool, labels
from otel_toolselect.rules.view import RunView

NAME = "never"


@dataclass(frozen=True, slots=True)
class NeverCheck:
    befores: tuple[Before, ...]
    tools: frozenset[str]
    effects: frozenset[str]
    outcomes: frozenset[str]
    passed: Finding
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        forbidden: list[str] = []
        if self.effects or not self.tools.isdisjoint(view.seen.names):
            forbidden = [c.name for c in view.calls if c.name in self.tools or c.effect in self.effects]
        if self.outcomes and view.first is None and view.sure and view.label in self.outcomes:
            forbidden.append(view.label)
        waiting = [(b, calls) for b in self.befores if (calls := b.concerned(view))]
        broken = [v for b, calls in waiting for v in b.violations(calls, view)]
        findings = [self._selection(forbidden, broken)] if forbidden or broken else [self.passed]
        if broken:
            findings.append(_sequence(broken))
        elif waiting:
            findings.append(_IN_ORDER)
        return findings

    def _selection(self, forbidden: Sequence[str], broken: Sequence[Violation]) -> Finding:
        status: Status = "fail" if forbidden or any(v.certain for v in broken) else "needs_review"
        seen = list(dict.fromkeys([*forbidden, *(v.call.name for v in broken)]))
        parts = [f"forbidden: {', '.join(dict.fromkeys(forbidden))}"] if forbidden else []
        parts += dict.fromkeys(v.sentence for v in broken)
        evidence: dict[str, object] = {"forbidden_observed" if status == "fail" else "to_review": seen}
        if not forbidden and all(v.by_absence for v in broken):
            evidence["missing"] = list(dict.fromkeys(v.needed for v in broken))
        return Finding(NAME, "selection", status, "; ".join(parts), evidence)


_IN_ORDER = Finding(NAME, "sequencing", "pass", "nothing was called before what it has to wait for")


def _sequence(broken: Sequence[Violation]) -> Finding:
    status: Status = "fail" if any(v.certain for v in broken) else "needs_review"
    evidence: dict[str, object] = {"constraints": [v.evidence for v in broken]}
    if all(v.by_absence for v in broken):
        evidence["missing"] = list(dict.fromkeys(v.needed for v in broken))
    return Finding(NAME, "sequencing", status, "; ".join(dict.fromkeys(v.sentence for v in broken)), evidence)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        plain: list[tuple[Selector, Node]] = []
        befores: list[Before] = []
        for text, item in draft.problems.texts(node, NAME):
            words = text.split()
            if len(words) == 1:
                selector = draft.selector(text, item, outcomes=True)
                if selector is not None:
                    plain.append((selector, item))
            elif len(words) in (3, 4) and words[1] == "before" and words[3:] in ([], ["ok"]):
                first = draft.selector(words[0], item, outcomes=False)
                then = draft.selector(words[2], item, outcomes=False)
                if first is not None and then is not None:
                    befores.append(Before(call=first, needs=then, ok=len(words) == 4))
            else:
                draft.problems.add(
                    item,
                    f"never cannot read {text[:80]!r}",
                    'write TOOL, effect:EFFECT, "X before Y" or "X before Y ok"',
                )
        draft.configs[NAME] = (plain, befores)
        draft.forbidden += [s for s, _ in plain if not isinstance(s, NoCallOutcome)]

    def finish(self, draft: Draft) -> Check | None:
        if NAME not in draft.configs:
            return None
        listed, befores = draft.configs[NAME]
        _contradictions(listed, draft)
        plain = tuple(s for s, _ in listed)
        what = [f"never called: {', '.join(labels(plain))}"] if plain else []
        what += [f"no {b.call.label} before {b.needs.label}" for b in befores]
        evidence: dict[str, object] = {"forbidden_observed": []}
        return NeverCheck(
            tuple(befores),
            frozenset(s.name for s in plain if isinstance(s, Tool)),
            frozenset(s.effect for s in plain if isinstance(s, Effect)),
            frozenset(s.label for s in plain if isinstance(s, NoCallOutcome)),
            Finding(NAME, "selection", "pass", "; ".join(what), evidence),
        )


def _contradictions(listed: Sequence[tuple[Selector, Node]], draft: Draft) -> None:
    """What is forbidden cannot be allowed first or required as well."""
    wanted = {"first": draft.configs.get("first", ()), "eventually": draft.configs.get("eventually", ())}
    for selector, item in listed:
        for key, selectors in wanted.items():
            for s in selectors:
                effect = draft.policy.effect_of(s.name) if isinstance(s, Tool) else None
                if s == selector or (isinstance(selector, Effect) and effect == selector.effect):
                    draft.problems.add(
                        item, f"never forbids {s.label!r}, which {key} lists", "take it out of one of them"
                    )


PLUGIN = _Kind()
