"""A diagnosis for people and for programs (R52)."""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.model.diagnosis import Diagnosis
from otel_toolselect.reports._layout import Block, Heading, Line, paint
from otel_toolselect.reports._plain import dumps, short
from otel_toolselect.reports._words import counted, interval


def diagnosis_table(found: Diagnosis, *, colour: bool, width: int) -> str:
    return paint(_blocks(found), colour=colour, width=width)


def _blocks(found: Diagnosis) -> Iterator[Block]:
    share = counted(found.share.rate, found.share.passed, found.share.n)
    yield Heading(f"{found.suite}: wanted {found.expected}, got {found.observed}")
    yield Line(f"{share} of the runs that wanted {found.expected}, 95 % interval {interval(found.share)}")
    if found.cases:
        more = f" and {len(found.cases) - 8} more" if len(found.cases) > 8 else ""
        yield Line(f"cases: {', '.join(found.cases[:8])}{more}", "dim")
    for number, step in enumerate(found.steps, start=1):
        yield Line(f"{number}. {step.question} {step.answer}", "warn" if step.answer == "unknown" else "bold")
        yield Line(step.explanation, indent=5)
        yield from (Line(f"{title}: {short(text, 600)}", "dim", indent=5) for title, text in step.texts)
    yield Line(f"likely: {found.conclusion}", "bold")
    yield Line(f"next: {found.then}")


def diagnosis_json(found: Diagnosis) -> str:
    return dumps({"schema": "toolselect.diagnosis/1", **_record(found)}, indent=2) + "\n"


def _record(found: Diagnosis) -> dict[str, object]:
    return {
        "suite": found.suite,
        "expected": found.expected,
        "observed": found.observed,
        "share": found.share,
        "cases": found.cases,
        "steps": found.steps,
        "conclusion": found.conclusion,
        "next": found.then,
    }
