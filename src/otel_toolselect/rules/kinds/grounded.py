"""`grounded`: values must come from somewhere (R31), arguments layer, one finding per call of a listed tool.

`[search_orders.customer_id]` names one argument, `[search_orders]` all of them. A value is grounded when it occurs (see
`rules.sources`) in what the user said, up to and with the request, or in a result that was there before the call was
decided. What the model itself said grounds nothing. A value that the offered schema lists (`enum`, `const`, `default`)
is a choice and needs no ground; a day is grounded by any mention of it ("next tuesday").

When the conversation or an earlier result is not recorded, a value without ground is needs_review, not a failure.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import json_equal
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.dates import mentioned, run_day
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import judged, unknown
from otel_toolselect.rules.kinds._places import Place, earlier_results, parse_places, places_of
from otel_toolselect.rules.sources import Source
from otel_toolselect.rules.view import CallView, RunView

NAME = "grounded"


@dataclass(frozen=True, slots=True)
class GroundedCheck:
    places: tuple[Place, ...]
    name: str = NAME
    layer: Layer = "arguments"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        concerned = ((c, places_of(self.places, c)) for c in view.calls)
        return [_judge(call, places, view) for call, places in concerned if places]


def _judge(call: CallView, places: Sequence[Place], view: RunView) -> Finding:
    if isinstance(call.args, Unknown):
        return unknown(NAME, call, call.args)
    said = conversation(view)
    loose = [(n, v) for place in places for n, v in place.values(call.args) if not said.holds(v)]
    reason = None
    if loose:
        results, lost = earlier_results(view, call)
        loose = [(n, v) for n, v in loose if not results.holds(v) and not _chosen(n, v, call, view)]
        reason = lost or (None if view.conversation else "the request is not recorded")
    if loose and reason is not None:
        names = ", ".join(dict.fromkeys(name for name, _ in loose))
        text = f"{call.name}: where {names} comes from is not known: {reason}"
        entry = {"call": call.seq, "tool": call.name, "unknown": reason}
        return Finding(NAME, "arguments", "needs_review", text, {"calls": [entry]})
    why = "stands neither in the conversation nor in an earlier result"
    return judged(NAME, call, [(n, f"{brief(v)} {why}") for n, v in loose], "has grounded values")


def conversation(view: RunView) -> Source:
    found: Source | None = view.course.memo.get("conversation")
    if found is None:
        found = view.course.memo["conversation"] = Source(view.conversation)
    return found


def _chosen(name: str, value: Any, call: CallView, view: RunView) -> bool:
    """A choice of the schema, or a day that the user spoke of."""
    schema = view.offered.get(call.name)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    member = properties.get(name) if isinstance(properties, dict) else None
    if isinstance(member, dict):
        enum = member.get("enum")
        listed = [*(enum if isinstance(enum, list) else ()), *(member[k] for k in ("const", "default") if k in member)]
        if any(json_equal(value, option) for option in listed):
            return True
    return iso_day(value) in _days(view)


def iso_day(value: Any) -> dt.date | None:
    """The day of a text that begins as an ISO date."""
    if not isinstance(value, str) or len(value) < 10:
        return None
    try:
        return dt.date.fromisoformat(value[:10])
    except ValueError:
        return None


def _days(view: RunView) -> set[dt.date]:
    found: set[dt.date] | None = view.course.memo.get("days")
    if found is None:
        today = run_day(view.run.start_ns, None)
        found = view.course.memo["days"] = {d for text in view.conversation for d in mentioned(text, today)}
    return found


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        draft.configs[NAME] = parse_places(node, NAME, draft)

    def finish(self, draft: Draft) -> Check | None:
        places = draft.configs.get(NAME, ())
        return GroundedCheck(places) if places else None


PLUGIN = _Kind()
