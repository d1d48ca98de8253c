"""Results that a later request shows in its history, tied to the calls that they answer."""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.assemble._reconcile import Call
from otel_toolselect.assemble._turns import Turn
from otel_toolselect.model.observations import Message, ResultPart


def attach(calls: Sequence[Call], turns: Sequence[Turn], told: Sequence[ResultPart] = ()) -> None:
    """Gives each call the result that a later request's history holds for it.

    By call id; call ids repeat across turns in the wild, so the k-th call with an id has the k-th result with that id
    in a full history. Without a fitting id (some clients change ids on the way): by order, when the request right
    after the turn brings exactly one result per call. `told` are results that other spans of the run report by id.
    """
    shown = [_by_call_id(turn.input) for turn in turns]
    rank = {call_id: len(found) for call_id, found in shown[0].items()} if shown else {}
    unanswered: dict[int, list[Call]] = {}
    for call in calls:
        call_id = call.call_id
        if call_id:
            index = rank.get(call_id, 0)
            call.result = _by_id(call, call_id, index, shown)
            rank[call_id] = index + 1
        if call.part is not None and call.turn < len(turns):
            unanswered.setdefault(call.turn, []).append(call)
    for index, mine in unanswered.items():
        if all(c.result is None for c in mine):
            _by_order(mine, turns[index].input)
    for call in calls if told else ():
        if call.result is None and call.call_id:
            found = [r for r in told if r.call_id == call.call_id]
            call.result = found[0] if len({str(r.value) for r in found}) == 1 else None


def _by_id(call: Call, call_id: str, index: int, shown: Sequence[dict[str, list[ResultPart]]]) -> ResultPart | None:
    """`shown`: what the requests of the turns show, the first turn's first."""
    for turn in range(call.turn, len(shown)):
        found = shown[turn].get(call_id)
        if found is None:
            continue
        if index < len(found):
            return found[index]
        if turn == call.turn:  # the request right after holds only what is new (server-side history)
            return found[-1]
    return None


def _by_order(calls: Sequence[Call], history: tuple[Message, ...] | None) -> None:
    tail = _tail(history)
    if len(tail) != len(calls):
        return
    named = all(r.name for r in tail)
    for call, part in zip(calls, tail, strict=True):
        if not named or part.name == call.name:
            call.result = part


def _tail(history: tuple[Message, ...] | None) -> list[ResultPart]:
    """The results after the last message with calls; all of them when the history shows no call."""
    tail: list[ResultPart] = []
    for m in history or ():
        if m.calls and not m.results:
            tail = []
        tail.extend(m.results)
    return tail


def _by_call_id(history: tuple[Message, ...] | None) -> dict[str, list[ResultPart]]:
    found: dict[str, list[ResultPart]] = {}
    for m in history or ():
        for part in m.parts:
            if isinstance(part, ResultPart) and part.call_id:
                found.setdefault(part.call_id, []).append(part)
    return found
