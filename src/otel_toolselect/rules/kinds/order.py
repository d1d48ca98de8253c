"""`order`: which call must wait for which (R27), sequencing layer.

`{first: A, then: B}`: every call of B has an earlier call of A; with `needs: ok` an earlier A that succeeded and whose
result was there. A run without a call of B is not concerned (say with `eventually` that B must come).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from otel_toolselect.model.verdicts import Finding, Layer, Status
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.ordering import Before
from otel_toolselect.rules.selectors import Selector
from otel_toolselect.rules.view import RunView

NAME = "order"


@dataclass(frozen=True, slots=True)
class OrderCheck:
    constraints: tuple[Before, ...]
    name: str = NAME
    layer: Layer = "sequencing"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        concerned = [(b, calls) for b in self.constraints if (calls := b.concerned(view))]
        if not concerned:
            return ()
        broken = [v for b, calls in concerned for v in b.violations(calls, view)]
        if not broken:
            return (_kept(tuple(b for b, _ in concerned)),)
        status: Status = "fail" if any(v.certain for v in broken) else "needs_review"
        evidence: dict[str, object] = {"constraints": [v.evidence for v in broken]}
        if all(v.by_absence for v in broken):
            evidence["missing"] = list(dict.fromkeys(v.needed for v in broken))
        return (Finding(NAME, "sequencing", status, "; ".join(dict.fromkeys(v.sentence for v in broken)), evidence),)


@lru_cache(maxsize=4096)
def _kept(constraints: tuple[Before, ...]) -> Finding:
    kept = [f"{b.needs.label} before {b.call.label}" for b in constraints]
    return Finding(NAME, "sequencing", "pass", f"order kept: {', '.join(kept)}", {"kept": kept})


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found: list[Before] = []
        for item in draft.problems.items(node, NAME, example="[{first: A, then: B, needs: ok}]"):
            before = _entry(item, draft)
            if before is not None:
                found.append(before)
                draft.wants(before.needs)
                draft.wants(before.call, may_start=False)
        draft.configs[NAME] = tuple(found)

    def finish(self, draft: Draft) -> Check | None:
        found = draft.configs.get(NAME, ())
        return OrderCheck(found) if found else None


def _entry(node: Node, draft: Draft) -> Before | None:
    found = draft.problems.fields(node, "an entry of order", ("first", "then", "needs"))
    if found is None:
        return None
    ends: dict[str, Selector] = {}
    for name in ("first", "then"):
        if name not in found:
            draft.problems.add(node, f"an entry of order has no {name!r}", "write {first: A, then: B}")
            continue
        value = found[name][1]
        text = draft.problems.text(value, name)
        selector = draft.selector(text, value, outcomes=False) if text is not None else None
        if selector is not None:
            ends[name] = selector
    ok = "needs" in found and draft.problems.choice(found["needs"][1], "needs", ("ok",)) is not None
    if len(ends) < 2:
        return None
    if ends["first"] == ends["then"]:
        draft.problems.add(node, f"{ends['first'].label!r} cannot wait for itself")
        return None
    return Before(call=ends["then"], needs=ends["first"], ok=ok)


PLUGIN = _Kind()
