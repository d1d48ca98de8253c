"""Why is X taken for Y? One question after the other, on what is there (R52).

1. offered: of the confused runs whose catalog is recorded, in how many was the expected tool on offer?
2. overlap: do the two descriptions overlap (`overlap`, words alone)?
3. consistent: of the confused cases with two judged runs or more, how many always go wrong the same way, how many flip
   (`stats.repeats`)? One run a case cannot tell a habit from a coin.
4. paraphrases: do the `same` groups of the confused cases keep one route (`stats.groups`)?

The conclusion takes the first reading that the answers allow, in this order: not offered (a catalog gap, not a choice),
sampling variance, overlapping descriptions, wording, and at last an intent that was misread. What could not be known is
said in the step, with the way to know it; a conclusion that rests on an unknown says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otel_toolselect.model.diagnosis import Diagnosis, Step
from otel_toolselect.model.facts import CaseGroup
from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import NO_CALL_LABELS, Run, ToolDefinition
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.rules import Suite
from otel_toolselect.stats import group_stability, rate, repeats
from otel_toolselect.triage.overlap import overlap

OFFERED = "was the expected tool on offer?"
OVERLAP = "do the descriptions overlap?"
CONSISTENT = "is it consistent, or sampling variance?"
PARAPHRASES = "do paraphrases agree?"


def diagnose(report: Report, runs: Mapping[str, Run], suite: Suite, expected: str, observed: str) -> Diagnosis:
    """The pair's layers. Needs at least one judged run that wanted `expected` (`share.n`)."""
    judged = [run for run in report.runs if run.excluded is None]
    row = [run for run in judged if any(cell.expected == expected for cell in run.cells)]
    confused = [run for run in row if Cell(expected, observed) in run.cells]
    cases = tuple(sorted({run.case_id for run in confused}))
    seen = [runs[run.run_id] for run in confused if run.run_id in runs]
    steps = (
        _offered(seen, suite, expected),
        _overlap(seen or list(runs.values()), suite, expected, observed),
        _consistent(judged, cases, observed),
        _paraphrases(judged, suite, cases),
    )
    conclusion, then = _reading(steps, len(confused), expected, observed)
    return Diagnosis(suite.name, expected, observed, rate(len(confused), len(row)), cases, steps, conclusion, then)


def _offered(seen: Sequence[Run], suite: Suite, expected: str) -> Step:
    if expected in NO_CALL_LABELS:
        return Step(OFFERED, "n/a", f"{expected} is not a tool; it is always open to the agent")
    known = [run for run in seen if run.tools is not None]
    having = sum(expected in {suite.policy.canonical(t.name) for t in run.tools or ()} for run in known)
    figures = {"offered": having, "known": len(known), "runs": len(seen)}
    if not known:
        return Step(
            OFFERED, "unknown", "no confused run recorded its catalog; `toolselect doctor` says how", (), figures
        )
    said = f"in {having} of {len(known)} confused runs with a recorded catalog"
    if len(known) < len(seen):
        said += f"; {len(seen) - len(known)} runs recorded none"
    return Step(OFFERED, "yes" if having == len(known) else "mixed" if having else "no", said, (), figures)


def _overlap(runs: Sequence[Run], suite: Suite, expected: str, observed: str) -> Step:
    for label in (expected, observed):
        if label in NO_CALL_LABELS:
            return Step(OVERLAP, "n/a", f"{label} has no description")
    defined = {name: _definition(runs, suite, name) for name in (expected, observed)}
    missing = [name for name, tool in defined.items() if tool is None or not tool.description]
    texts = tuple((name, tool.description) for name, tool in defined.items() if tool is not None and tool.description)
    a, b = defined[expected], defined[observed]
    if a is None or b is None or missing:
        return Step(OVERLAP, "unknown", f"no description recorded of {' and '.join(missing)}", texts)
    found = overlap(a, b)
    figures = {"name": found.name, "description": found.description}
    said = f"names {found.name:.0f}/100 alike, descriptions {found.description or 0:.0f}/100 alike"
    return Step(OVERLAP, "yes" if found.lexical else "no", said, texts, figures)


def _definition(runs: Sequence[Run], suite: Suite, name: str) -> ToolDefinition | None:
    """The tool as the latest of the runs that know it was offered it."""
    for run in sorted(runs, key=lambda r: (-r.start_ns, r.run_id)):
        for tool in run.tools or ():
            if suite.policy.canonical(tool.name) == name:
                return tool
    return None


def _consistent(judged: Sequence[RunVerdict], cases: Sequence[str], observed: str) -> Step:
    found = [case for case in repeats(judged).cases if case.case_id in cases]
    repeated = [case for case in found if case.repeated]
    flips = [case.case_id for case in repeated if case.flips]
    always = sum(len(case.actions) == 1 for case in repeated)
    figures = {"cases": len(found), "repeated": len(repeated), "flipping": flips}
    if not found:
        return Step(CONSISTENT, "n/a", "the pair was not observed", (), figures)
    if not repeated:
        said = f"each of the {len(found)} confused cases ran once: run each three to five times to know"
        return Step(CONSISTENT, "unknown", said, (), figures)
    said = f"of {len(repeated)} confused cases with several runs, {always} always take {observed}, {len(flips)} flip"
    if flips:
        said += f" ({', '.join(flips[:5])}{', ...' if len(flips) > 5 else ''})"
    return Step(CONSISTENT, "no" if len(flips) == len(repeated) else "mixed" if flips else "yes", said, (), figures)


def _paraphrases(judged: Sequence[RunVerdict], suite: Suite, cases: Sequence[str]) -> Step:
    groups = {c.id: CaseGroup(c.group.id, c.group.relation) for c in suite.cases if c.group is not None}
    wanted = {groups[case].id for case in cases if case in groups and groups[case].relation == "same"}
    found = [g for g in group_stability(judged, groups) if g.id in wanted and g.relation == "same"]
    told = [group for group in found if group.stable is not None]
    figures = {"groups": len(found), "judged": len(told), "stable": sum(bool(group.stable) for group in told)}
    if not cases:
        return Step(PARAPHRASES, "n/a", "the pair was not observed", (), figures)
    if not told:
        said = "no confused case has paraphrases with runs: give it a group (relation: same) with a second wording"
        return Step(PARAPHRASES, "unknown", said, (), figures)
    stable = sum(bool(group.stable) for group in told)
    routes = "; ".join(f"{g.id}: {', '.join(f'{c} -> {r}' for c, r in g.routes.items())}" for g in told[:3])
    said = f"{stable} of {len(told)} groups keep one route ({routes})"
    return Step(PARAPHRASES, "yes" if stable == len(told) else "mixed" if stable else "no", said, (), figures)


def _reading(steps: Sequence[Step], n: int, expected: str, observed: str) -> tuple[str, str]:
    answers = {step.question: step.answer for step in steps}
    if not n:
        return f"{expected} was never answered by {observed} here", "look at a longer window, or at another pair"
    if answers[OFFERED] in ("no", "mixed"):
        return "catalog gap: the tool was not always there to be chosen", "offer it; then judge the choice again"
    if answers[CONSISTENT] in ("no", "mixed"):
        return (
            "sampling variance: the same case goes both ways",
            "lower the temperature or sharpen the boundary; set the gate's tolerance from the flip rate",
        )
    unsure = "" if answers[CONSISTENT] == "yes" else " (whether it is consistent is not known)"
    if answers[OVERLAP] == "yes":
        return (
            f"boundary ambiguity: the descriptions leave open which one to take{unsure}",
            "rewrite both in parallel terms: object, reads or writes, prerequisites, and where the other one begins",
        )
    if answers[PARAPHRASES] in ("no", "mixed"):
        return (
            f"wording: some phrasings of the same request go wrong{unsure}",
            "name these phrasings in the description",
        )
    rest = ", ".join(q.rstrip("?") for q, a in answers.items() if a == "unknown")
    missing = f"; not known: {rest}" if rest else ""
    return f"intent misread: nothing in catalog or wording explains it{missing}", "look at instructions and context"
