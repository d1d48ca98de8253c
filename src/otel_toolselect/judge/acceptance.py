"""What the yes/no judge is asked to label a run (R37, R47): is this first action acceptable?

The first action that was taken comes first. Only where the answer is no are the alternatives asked about, one question
each and no more than allowed, until one is acceptable: without it every cell that a judge gives would lie on the
diagonal. When none is found the label says that the action is wrong and no more. The judge sees the request, what the
user said before, and the offered tools; neither what other sources say nor what came of the action.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.model.questions import Question
from otel_toolselect.model.runs import NO_CALL_LABELS, Run
from otel_toolselect.rules import Policy, RunView
from otel_toolselect.rules.asking import Asker

_OUTCOMES = {
    "none": "answering the user without calling a tool",
    "ask_followup": "asking the user a question before calling a tool",
    "refuse_no_tool": "declining, because no offered tool fits",
}
_DESCRIPTION = 300
_HISTORY = 10


@dataclass(frozen=True, slots=True)
class Opinion:
    """`expected`: as in a label, () for a mere no. `record`: every question with its answer, under `asked`."""

    model: str
    expected: tuple[str, ...]
    record: dict[str, Any] = field(hash=False)


def opinion(run: Run, asker: Asker, policy: Policy, alternatives: int) -> Opinion | None:
    """What the judge says of a run; None when it says nothing, or when the run holds no request to judge by."""
    if not run.request:
        return None
    view = RunView(run, policy)
    answer = asker.ask(question(view, view.first_action))
    if answer.yes is None:
        return None
    asked: list[dict[str, Any]] = [{"action": view.first_action, **answer.record}]
    expected = (view.first_action,) if answer.yes else ()
    for name in others(view)[:alternatives] if not answer.yes else ():
        other = asker.ask(question(view, name))
        asked.append({"action": name, **other.record})
        if other.yes:
            expected = (name,)
            break
    return Opinion(answer.model, expected, {"asked": asked})


def others(view: RunView) -> list[str]:
    """What else might have been right, in a fixed order: outcomes without a call, then the tools as offered."""
    offered = [name for name in view.offered if view.policy.read(name, None).consequential]
    return [name for name in (*NO_CALL_LABELS[1:], *offered, NO_CALL_LABELS[0]) if name != view.first_action]


def question(view: RunView, action: str) -> Question:
    run = view.run
    tools = "\n".join(f"{t.name}: {t.description[:_DESCRIPTION]}" for t in run.tools or ()) or "(not recorded)"
    earlier = (("what the user said before", "\n".join(run.history[-_HISTORY:])),) if run.history else ()
    shown = _OUTCOMES.get(action, f"calling the tool {action}")
    return Question(
        "Is the first action an acceptable first action for this request?",
        (*earlier, ("request", run.request or ""), ("offered tools", tools), ("first action", shown)),
    )
