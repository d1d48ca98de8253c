"""`reference`: a whole sequence of calls to compare with (R27); selection, sequencing and arguments layers.

    mode        every step must be there   nothing else may be there   in this order
    exact       yes                        yes                         yes
    ordered     yes                        no                          yes
    unordered   yes                        yes                         no
    superset    yes                        no                          no
    subset      no                         yes                         no

`calls` are tools, or `{tool, args}` with expected arguments of their own; `among` says which observed calls are
compared (`effect:write ok`: only writes that succeeded; the default is every consequential call). Calls are a
multiset, paired optimally (see `rules.alignment`): two expected calls need two observed ones.

Which layer fails (design section 7):

- selection: a step is missing, or a call is there that the mode forbids: wrong name, wrong number of calls;
- sequencing, only in the modes with an order: the order is broken; a skipped or an extra step breaks it too where the
  mode forbids it. The sentence tells "the same steps in another order" from "a step was skipped";
- arguments: a call whose tool was right has not the expected arguments, one finding per paired call (R25).

`max_distance: N` tolerates up to N edits (Levenshtein over steps; what the mode permits anyway costs nothing) in
selection and sequencing together. Evidence: matched calls (tool and arguments), matched tools, precision = matched /
observed, recall = matched / expected, null where there is nothing to divide by.

Several references may be listed; each is judged on its own. With `ok` in `among`, a call whose outcome the trace does
not tell is taken as successful and the verdict becomes needs_review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.verdicts import Finding, Layer, Status
from otel_toolselect.rules._nodes import Items, Node, Scalar
from otel_toolselect.rules.alignment import Alignment, align, distance
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import judged, unknown
from otel_toolselect.rules.kinds._steps import Among, Step, parse_among, parse_steps
from otel_toolselect.rules.profile import MODES, Mode, parse_matching
from otel_toolselect.rules.selectors import Tool
from otel_toolselect.rules.view import CallView, RunView

NAME = "reference"
_KEYS = ("calls", "mode", "among", "max_distance", "matching")
_COMPLETE = frozenset({"exact", "ordered", "unordered", "superset"})  # every step must be there
_CLOSED = frozenset({"exact", "unordered", "subset"})  # nothing else may be there
_ORDERED = frozenset({"exact", "ordered"})
_FITS = "has the arguments of the reference"


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    steps: tuple[Step, ...]
    mode: Mode
    among: Among
    max_distance: int
    _distinct: bool = field(init=False, compare=False, repr=False)  # no tool stands twice
    _kept: dict[int, list[Finding]] = field(default_factory=dict, compare=False, repr=False)
    name: str = NAME
    layer: Layer = "sequencing"
    decides: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "_distinct", len({s.tool for s in self.steps}) == len(self.steps))

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        calls = [c for c in view.calls if self.among.holds(c)]
        unsure = [c.name for c in calls if self.among.unsure(c)]
        wrong = self._straight(calls, view)
        if wrong is not None:
            alignment = Alignment({i: i for i in range(len(calls))}, frozenset(i for i, w in enumerate(wrong) if not w))
            if not unsure:
                return self._in_step(alignment, calls, wrong)
            by_call = dict(enumerate(wrong))
        else:
            alignment, by_call = self._aligned(calls, view), {}
        findings = self._whole(alignment, calls, unsure)
        for o in sorted(alignment.pairs):
            step = self.steps[alignment.pairs[o]]
            if step.args is not None:
                fits = o in alignment.fitting
                faults = () if fits else by_call[o] if o in by_call else step.wrong(calls[o], view)
                findings.append(_arguments(calls[o], faults))
        return findings

    def _in_step(
        self, straight: Alignment, calls: Sequence[CallView], wrong: Sequence[Sequence[tuple[str, str]]]
    ) -> Sequence[Finding]:
        """The findings of a run whose tools are as written: but for arguments they depend on how many calls fit."""
        matched = len(straight.fitting)
        kept = self._kept.get(matched)
        if kept is None:
            kept = self._kept[matched] = self._whole(straight, calls, ())
        found = list(kept)
        for step, call, faults in zip(self.steps, calls, wrong, strict=True):
            if step.args is not None:
                found.append(_arguments(call, faults))
        return found

    def _straight(self, calls: Sequence[CallView], view: RunView) -> list[list[tuple[str, str]]] | None:
        """The common case, call by call: what is wrong with each; None when the pairing is not plain to see.

        It is plain when all tools are as written and every call fits, or when no tool stands twice.
        """
        if len(calls) != len(self.steps):
            return None
        for step, call in zip(self.steps, calls, strict=True):
            if step.tool != call.name:
                return None
        wrong = [step.wrong(call, view) for step, call in zip(self.steps, calls, strict=True)]
        return wrong if self._distinct or not any(wrong) else None

    def _aligned(self, calls: Sequence[CallView], view: RunView) -> Alignment:
        names = [s.tool for s in self.steps]
        exacting = {i for i, s in enumerate(self.steps) if s.args is not None}

        def fits(e: int, o: int) -> bool:
            return not self.steps[e].wrong(calls[o], view)

        return align(names, [c.name for c in calls], fits, exacting=exacting, order=self.mode in _ORDERED)

    def _whole(self, alignment: Alignment, calls: Sequence[CallView], unsure: Sequence[str]) -> list[Finding]:
        """Selection, and sequencing where the mode has an order."""
        missing = [self.steps[e].tool for e in alignment.missing(len(self.steps))] if self.mode in _COMPLETE else []
        extra = [calls[o].name for o in alignment.surplus(len(calls))] if self.mode in _CLOSED else []
        order = self.mode in _ORDERED
        evidence = self._evidence(alignment, calls)
        evidence["distance"] = away = self._distance(alignment, calls)
        moved = order and not alignment.in_order
        tolerated = away <= self.max_distance
        if unsure:
            evidence["unknown_outcome"] = list(unsure)
        said = _sentence(missing, extra, moved, evidence)
        if tolerated and away:
            said = f"{said}: {away} of at most {self.max_distance} edits"
        findings = [_finding("selection", bool(missing or extra) and not tolerated, said, evidence, missing, extra)]
        if order and self.steps:
            broken = bool(missing or extra or moved) and not tolerated
            findings.append(_finding("sequencing", broken, said, evidence, missing, extra, moved=moved))
        return [_doubted(f) for f in findings] if unsure else findings

    def _evidence(self, alignment: Alignment, calls: Sequence[CallView]) -> dict[str, Any]:
        matched, expected, observed = len(alignment.fitting), len(self.steps), len(calls)
        return {
            "mode": self.mode,
            "expected_calls": [s.tool for s in self.steps],
            "observed_calls": [c.name for c in calls],
            "matched": matched,
            "matched_tools": len(alignment.pairs),
            "precision": matched / observed if observed else None,
            "recall": matched / expected if expected else None,
            "reordered": not alignment.in_order,
        }

    def _distance(self, alignment: Alignment, calls: Sequence[CallView]) -> int:
        free = set() if self.mode in _CLOSED else {"extra"}
        free |= set() if self.mode in _COMPLETE else {"missing"}
        return distance(alignment, len(self.steps), len(calls), order=self.mode in _ORDERED, free=free)


def _sentence(missing: Sequence[str], extra: Sequence[str], moved: bool, evidence: Mapping[str, Any]) -> str:
    parts = [f"skipped: {', '.join(missing)}"] if missing else []
    parts += [f"unexpected: {', '.join(extra)}"] if extra else []
    if moved:
        got = ", ".join(evidence["observed_calls"])
        parts.append(f"another order than the reference ({', '.join(evidence['expected_calls'])}): {got}")
    if parts:
        return "; ".join(parts)
    harmless = " in another order, which is free" if evidence["reordered"] else ""
    return f"the calls are those of the reference{harmless}"


def _finding(
    layer: Layer,
    failed: bool,
    said: str,
    common: Mapping[str, Any],
    missing: Sequence[str],
    extra: Sequence[str],
    *,
    moved: bool = False,
) -> Finding:
    evidence = dict(common)
    if layer == "selection":
        evidence["missing_required"] = list(missing)
        evidence["forbidden_observed"] = list(extra) if failed else []
    else:
        evidence["skipped"], evidence["unexpected"] = list(missing), list(extra)
    if failed and missing and not extra and not moved:
        evidence["missing"] = list(missing)  # an incomplete trace may still bring them
    return Finding(NAME, layer, "fail" if failed else "pass", said, evidence)


def _doubted(finding: Finding) -> Finding:
    names = ", ".join(dict.fromkeys(finding.evidence["unknown_outcome"]))
    said = f"the trace does not say whether {names} succeeded; if so: {finding.explanation}"
    status: Status = "needs_review"
    evidence = {**finding.evidence, "forbidden_observed": []} if finding.layer == "selection" else finding.evidence
    return Finding(finding.check, finding.layer, status, said, evidence)


def _arguments(call: CallView, wrong: Sequence[tuple[str, str]]) -> Finding:
    if isinstance(call.args, Unknown):
        return unknown(NAME, call, call.args)
    return judged(NAME, call, wrong, _FITS)


@dataclass(frozen=True, slots=True)
class _All:
    """Several references, each on its own."""

    checks: tuple[ReferenceCheck, ...]
    name: str = NAME
    layer: Layer = "sequencing"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        return [finding for check in self.checks for finding in check.evaluate(view)]


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        entries = node.items if isinstance(node, Items) else (node,)
        found = [check for check in (_reference(entry, draft) for entry in entries) if check is not None]
        if isinstance(node, Items) and not node.items:
            draft.problems.add(node, "reference is an empty list", "take it out")
        draft.configs[NAME] = found[0] if len(found) == 1 else _All(tuple(found)) if found else None

    def finish(self, draft: Draft) -> Check | None:
        check: Check | None = draft.configs.get(NAME)
        return check


def _reference(node: Node, draft: Draft) -> ReferenceCheck | None:
    found = draft.problems.fields(node, NAME, _KEYS)
    if found is None:
        return None
    profile = draft.profile
    if "matching" in found:
        profile = parse_matching(found["matching"][1], draft.problems) or profile
    mode = draft.problems.choice(found["mode"][1], "mode", MODES) if "mode" in found else profile.mode
    outer, draft.profile = draft.profile, profile
    steps = parse_steps(found["calls"][1], draft) if "calls" in found else []
    draft.profile = outer
    if "calls" not in found:
        draft.problems.add(node, "reference has no calls", "write calls: [TOOL, {tool: TOOL, args: {...}}]")
    among = parse_among(found["among"][1], draft) if "among" in found else Among(())
    limit = found.get("max_distance")
    most = draft.problems.whole(limit[1], "max_distance", least=0) if limit is not None else 0
    for i, step in enumerate(steps):
        draft.wants(Tool(step.tool), may_start=i == 0 or mode not in _ORDERED)
    return ReferenceCheck(tuple(steps), cast("Mode", mode or "ordered"), among, most or 0)


PLUGIN = _Kind()
