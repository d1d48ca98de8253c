"""`suite lint`: would this suite notice a regression (R12-R15, R18)? Advice on a suite that loads; mistakes are `rules
check`'s business.

A *warning* says what to add or to fix, a *note* a figure worth knowing. Numbers:

    size           60 to 120 cases for one agent
    guard          at least 20 near-miss and negative cases
    edges          two edge cases for every happy one
    flip           one flip moves accuracy by 100 / cases points
    must-haves     one case each without a tool, with a question, of an overlapping pair, with an unavailable tool,
                   of several steps
    coverage       the axes of R12 over tags, with their values and counts
    labels         kappa per pair of labellers; two labellers on risky cases; disagreement belongs into the ambiguous
                   bucket, and is mended in the tool's description
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from otel_toolselect.rules import Case, Suite
from otel_toolselect.stats.agreement import Agreement, agreement
from otel_toolselect.suites import traits

Level = Literal["warning", "note"]
SIZE = (60, 120)
GUARDS = 20
EDGES_PER_HAPPY = 2
FAIR_KAPPA = 0.6  # below, the labels are not yet a common reading
RISKY = ("high", "critical")


@dataclass(frozen=True, slots=True)
class Advice:
    """`cases`: those it is about, by id."""

    rule: str
    level: Level
    message: str
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Linted:
    suite: str
    path: str
    cases: int
    advice: tuple[Advice, ...]
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)
    agreement: tuple[Agreement, ...] = ()

    @property
    def warned(self) -> bool:
        return any(a.level == "warning" for a in self.advice)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "suite": self.suite,
            "path": self.path,
            "cases": self.cases,
            "advice": [
                {"rule": a.rule, "level": a.level, "message": a.message, "cases": list(a.cases)} for a in self.advice
            ],
            "coverage": self.coverage,
            "agreement": [
                {"labellers": [a.first, a.second], "n": a.n, "same": a.same, "kappa": a.kappa} for a in self.agreement
            ],
        }


def lint(suite: Suite) -> Linted:
    cases = suite.cases
    found = [advice for rule in _RULES for advice in rule(cases)]
    pairs = agreement(_by_labeller(cases))
    found += _kappa(pairs)
    found.sort(key=lambda a: a.level != "warning")
    return Linted(suite.name, suite.path, len(cases), tuple(found), coverage(cases), pairs)


def coverage(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """Axis -> value -> cases, `(untagged)` for those that do not say."""
    return {
        axis: dict(sorted(Counter(traits.tag(c, axis) or "(untagged)" for c in cases).items())) for axis in traits.AXES
    }


def _ids(cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(c.id for c in cases)


def _size(cases: Sequence[Case]) -> Iterator[Advice]:
    n, (least, most) = len(cases), SIZE
    if n < least:
        yield Advice("size", "warning", f"{n} cases; {least} to {most} tell a regression from noise for one agent")
    elif n > most:
        yield Advice("size", "note", f"{n} cases; {least} to {most} are enough for one agent, keep the rest rolling")
    yield Advice("flip", "note", f"one flip moves accuracy by {100 / n:.3g} points ({n} cases)")


def _guards(cases: Sequence[Case]) -> Iterator[Advice]:
    negative = [c for c in cases if traits.is_negative(c)]
    near = [c for c in cases if traits.is_near_miss(c) and not traits.is_negative(c)]
    n = len(negative) + len(near)
    said = f"{n} of {len(cases)} cases ({n / len(cases):.0%}) are near-miss ({len(near)}) or negative ({len(negative)})"
    if n < GUARDS:
        yield Advice("guard", "warning", f"{said}; at least {GUARDS} show over-eager and confused choices")
    else:
        yield Advice("guard", "note", said)


def _edges(cases: Sequence[Case]) -> Iterator[Advice]:
    edge = [c for c in cases if traits.is_edge(c)]
    happy = len(cases) - len(edge)
    said = f"{len(edge)} edge cases for {happy} happy ones"
    if len(edge) < EDGES_PER_HAPPY * happy:
        missing = EDGES_PER_HAPPY * happy - len(edge)
        yield Advice("edges", "warning", f"{said}; two for each happy case would need {missing} more")
    else:
        yield Advice("edges", "note", said)


def _must_haves(cases: Sequence[Case]) -> Iterator[Advice]:
    wanted: tuple[tuple[str, str, Callable[[Case], bool]], ...] = (
        ("no-tool", "class: none", lambda c: c.expect.decision == "none"),
        ("clarification", "class: clarify", lambda c: c.expect.decision == "clarify"),
        ("overlapping pair", "tags: {overlap: high}", traits.is_near_miss),
        ("unavailable tool", "tags: {availability: unavailable}", traits.is_unavailable),
        ("multi-step", "class: multi_step, order or reference", _has_steps),
    )
    for what, how, test in wanted:
        if not any(test(c) for c in cases):
            yield Advice("must-have", "warning", f"no {what} case; write one ({how})")


def _has_steps(case: Case) -> bool:
    names = {check.name for check in case.expect.checks}
    return case.expect.decision == "multi_step" or bool(names & {"order", "turns"}) or len(case.expect.wanted) > 1


def _duplicates(cases: Sequence[Case]) -> Iterator[Advice]:
    by_prompt: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.prompt is not None:
            by_prompt[" ".join(case.prompt.casefold().split())].append(case)
    for same in by_prompt.values():
        if len(same) > 1:
            yield Advice("duplicate", "warning", f"{len(same)} cases have the same prompt", _ids(same))


def _rationale(cases: Sequence[Case]) -> Iterator[Advice]:
    silent = [c for c in cases if not c.rationale]
    if silent:
        yield Advice("rationale", "warning", f"{len(silent)} of {len(cases)} cases have no rationale", _ids(silent))


def _pinned(cases: Sequence[Case]) -> Iterator[Advice]:
    loose = [c for c in cases if c.tools is None and c.catalog is None]
    if loose:
        said = f"{len(loose)} of {len(cases)} cases pin no tools: a tool that lands later changes them silently"
        yield Advice("pinned", "note", said, _ids(loose))


def _axes(cases: Sequence[Case]) -> Iterator[Advice]:
    bare = [axis for axis, values in coverage(cases).items() if set(values) == {"(untagged)"}]
    if bare:
        yield Advice("coverage", "note", f"no case is tagged for {', '.join(bare)}")


def _groups(cases: Sequence[Case]) -> Iterator[Advice]:
    by_group: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.group is not None:
            by_group[case.group.id].append(case)
    for name, members in by_group.items():
        if len(members) == 1:
            yield Advice("group", "warning", f"the group {name} has one variant; a relation needs two", _ids(members))


def _reviewed(cases: Sequence[Case]) -> Iterator[Advice]:
    alone = [c for c in cases if (c.risk or "").lower() in RISKY and len({str(e.get("by")) for e in c.labels}) < 2]
    if alone:
        yield Advice("reviewers", "warning", f"{len(alone)} risky cases have fewer than two labellers", _ids(alone))
    unsettled = [c for c in cases if traits.disagreed(c) and traits.bucket(c) != "ambiguous"]
    if unsettled:
        said = "labellers disagree: move to the ambiguous bucket, and mend the tools' descriptions, not the test"
        yield Advice("ambiguous", "warning", said, _ids(unsettled))
    settled = [c for c in cases if traits.bucket(c) == "ambiguous" and len(c.labels) > 1 and not traits.disagreed(c)]
    if settled:
        yield Advice("ambiguous", "note", "labellers agree now: back to the core set", _ids(settled))


def _by_labeller(cases: Sequence[Case]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for case in cases:
        for label in case.labels:
            found[str(label.get("by"))][case.id] = traits.opinion(label)
    return found


def _kappa(pairs: Sequence[Agreement]) -> Iterator[Advice]:
    for pair in pairs:
        value = "undefined (one label throughout)" if pair.kappa is None else f"{pair.kappa:.2f}"
        said = f"{pair.first} and {pair.second} agree on {pair.same} of {pair.n} cases, kappa {value}"
        level: Level = "warning" if pair.kappa is not None and pair.kappa < FAIR_KAPPA else "note"
        yield Advice("kappa", level, said)


_RULES: tuple[Callable[[Sequence[Case]], Iterator[Advice]], ...] = (
    _size,
    _guards,
    _edges,
    _must_haves,
    _duplicates,
    _rationale,
    _pinned,
    _axes,
    _groups,
    _reviewed,
)
