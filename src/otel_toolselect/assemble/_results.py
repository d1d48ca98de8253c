"""Results that a later request shows in its history, tied to the calls that they answer."""

from __future__ import annotations

from collections import Counter
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
    earlier = Counter(r.call_id for r in _results(turns[0].input if turns else None))
    rank: Counter[str] = Counter()
    for call in calls:
        if call.call_id:
            call.result = _by_id(call, call.call_id, earlier[call.call_id] + rank[call.call_id], turns)
            rank[call.call_id] += 1
    for turn in turns:
        mine = [c for c in calls if c.turn == turn.index and c.part is not None]
        if mine and all(c.result is None for c in mine) and turn.index < len(turns):
            _by_order(mine, turns[turn.index].input)
    for call in calls:
        if call.result is None and call.call_id:
            found = [r for r in told if r.call_id == call.call_id]
            call.result = found[0] if len({str(r.value) for r in found}) == 1 else None


def _by_id(call: Call, call_id: str, index: int, turns: Sequence[Turn]) -> ResultPart | None:
    for turn in turns[call.turn :]:
        found = [r for r in _results(turn.input) if r.call_id == call_id]
        if index < len(found):
            return found[index]
        if found and turn.index == call.turn + 1:  # the request holds only what is new (server-side history)
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


def _results(history: tuple[Message, ...] | None) -> list[ResultPart]:
    return [r for m in history or () for r in m.results]
