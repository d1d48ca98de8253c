"""`stale`: no value of a subject that the user has left (R31), arguments layer, one finding per call of a listed tool.

`[book.city]` as in `grounded`. The definition is narrow, so that it holds without reading: a value is stale when

1. it occurs in an earlier message of the user in this conversation,
2. neither in the request that the run answers, nor in a result that was there before the call was decided, and
3. the request names another value of the same shape that no earlier message named: an id with the same letters and as
   many digits ("A-1001", "A-1002"), a number for a number, a day for a day, a capitalized name for a name ("Oslo", "and
   in Bergen?"; a word that begins a sentence is no name).

Without 3 the user may still be speaking of the same subject. Conversations that the trace does not show are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import re2

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.dates import mentioned, run_day
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import judged, unknown
from otel_toolselect.rules.kinds._places import Place, earlier_results, parse_places, places_of
from otel_toolselect.rules.kinds.grounded import iso_day
from otel_toolselect.rules.sources import ID, Source, id_shape, number_tokens
from otel_toolselect.rules.view import CallView, RunView

NAME = "stale"
_PROPER = re2.compile(r"[\pL\pN,;:'’)-] (\p{Lu}[\pL'’-]+(?: \p{Lu}[\pL'’-]+)*)")
_NAME = re2.compile(r"\p{Lu}[\pL'’-]+(?: \p{Lu}[\pL'’-]+)*")


@dataclass(frozen=True, slots=True)
class StaleCheck:
    places: tuple[Place, ...]
    name: str = NAME
    layer: Layer = "arguments"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if not view.run.history or view.run.request is None:
            return ()
        concerned = ((c, places_of(self.places, c)) for c in view.calls)
        return [_judge(call, places, view) for call, places in concerned if places]


def _judge(call: CallView, places: Sequence[Place], view: RunView) -> Finding:
    if isinstance(call.args, Unknown):
        return unknown(NAME, call, call.args)
    results, _ = earlier_results(view, call)
    earlier, request = Source(view.run.history), Source([view.run.request or ""])
    wrong = []
    for place in places:
        for name, value in place.values(call.args):
            if isinstance(value, bool) or value in (None, ""):
                continue
            if earlier.holds(value) and not request.holds(value) and not results.holds(value):
                rival = _rival(value, view, earlier)
                if rival is not None:
                    wrong.append((name, f"{brief(value)} is from an earlier message; the request names {rival}"))
    return judged(NAME, call, wrong, "has no value of an earlier subject")


def _rival(value: Any, view: RunView, earlier: Source) -> str | None:
    """What the request names in the value's place."""
    request = view.run.request or ""
    day = iso_day(value)
    if day is not None:
        today = run_day(view.run.start_ns, None)
        days = mentioned(request, today)
        others = sorted(d for d in days if all(d not in mentioned(text, today) for text in view.run.history))
        return str(others[0]) if others and day not in days else None
    return next((token for token in _alike(value, request) if not earlier.holds(token)), None)


def _alike(value: Any, request: str) -> list[str]:
    """The tokens of the request that have the value's shape."""
    if not isinstance(value, str):
        return number_tokens(request)
    shape = id_shape(value)
    if shape is not None:
        return [t for t in ID.findall(request) if id_shape(t) == shape]
    return list(_PROPER.findall(request)) if _NAME.fullmatch(value) else []


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        draft.configs[NAME] = parse_places(node, NAME, draft)

    def finish(self, draft: Draft) -> Check | None:
        places = draft.configs.get(NAME, ())
        return StaleCheck(places) if places else None


PLUGIN = _Kind()
