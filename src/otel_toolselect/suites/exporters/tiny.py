"""`tiny`: JSON lines `{"id", "request", "expected"}`: the allowed first actions and nothing else."""

from __future__ import annotations

import json

from otel_toolselect.suites.exporting import NO_CALL, PlainCase


class _Tiny:
    name = "tiny"
    about = "JSON lines of request and allowed first actions"

    def write(self, suite: str, cases: list[PlainCase]) -> str:
        return "".join(_line(case) for case in cases)


def _line(case: PlainCase) -> str:
    first = case.first
    if not first:
        found = case.steps()
        first = [found[0][0].tool] if found is not None and found[0] else []
        case.lost += ["the later steps"] if found is not None and len(found[0]) > 1 else []
    if not first or case.prompt is None:
        case.lost.append("the case: it has no prompt or no first action")
        return ""
    if set(first) == set(NO_CALL):
        first = ["none"]  # any outcome without a call, in this form
    elif "none" in first:
        case.lost.append("that the other outcomes without a call are wrong")
    expected = first[0] if len(first) == 1 else first
    return json.dumps({"id": case.id, "request": case.prompt, "expected": expected}, ensure_ascii=False) + "\n"


PLUGIN = _Tiny()
