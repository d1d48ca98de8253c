"""`adk-evalset`: an eval set of Google's ADK, each case a conversation of one invocation with its tool uses.

ADK compares the whole trajectory; whether in order and without others is set in its criteria, not here, so a mode other
than `exact` is named as lost.
"""

from __future__ import annotations

import json
from typing import Any

from otel_toolselect.suites.exporting import PlainCase


class _AdkEvalSet:
    name = "adk-evalset"
    about = "a Google ADK eval set: tool uses per invocation"

    def write(self, suite: str, cases: list[PlainCase]) -> str:
        made = [entry for entry in map(_case, cases) if entry is not None]
        return (
            json.dumps({"eval_set_id": suite, "name": suite, "eval_cases": made}, indent=2, ensure_ascii=False) + "\n"
        )


def _case(case: PlainCase) -> dict[str, Any] | None:
    found = case.steps()
    if found is None or case.prompt is None:
        case.lost.append("the case: it has no prompt or no single sequence of calls")
        return None
    steps, mode = found
    if mode != "exact" and steps:
        case.lost.append(f"mode {mode}")
    uses = [{"name": s.tool, "args": dict(s.args or {})} for s in steps]
    invocation = {
        "invocation_id": f"{case.id}-1",
        "user_content": {"role": "user", "parts": [{"text": case.prompt}]},
        "intermediate_data": {"tool_uses": uses, "tool_responses": []},
    }
    return {"eval_id": case.id, "conversation": [invocation]}


PLUGIN = _AdkEvalSet()
