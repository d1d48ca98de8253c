"""Results that a later request shows in its history, tied to the calls that they answer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Sequence
from operator import is_

from otel_toolselect.assemble._reconcile import Call
from otel_toolselect.assemble._turns import Turn
from otel_toolselect.model.observations import CallPart, Message, Observation, ResultPart

History = tuple[Message, ...]


def attach(calls: Sequence[Call], turns: Sequence[Turn], others: Sequence[Observation]) -> None:
    """Gives each call the result that a later request's history holds for it.

    By call id; call ids repeat across turns in the wild, so the k-th call with an id has the k-th result with that id
    in a full history. Without a fitting id (some clients change ids on the way): by order, when the request right
    after the turn brings exactly one result per call. `others` are spans of the run that may report results by id.
    """
    shown = Shown([turn.told.input or () for turn in turns])
    rank: dict[str, int] = {}
    left: list[Call] = []
    for call in calls:
        call_id = call.call_id
        if call_id:
            index = rank[call_id] if call_id in rank else shown.at_first(call_id)
            call.result = shown.result(call_id, index, call.turn)
            rank[call_id] = index + 1
        if call.result is None:
            left.append(call)
    if left:
        _in_order(left, {c.turn for c in calls if c.part is not None and c.result is not None}, turns)
        _as_told([c for c in left if c.result is None and c.call_id], others)


class Shown:
    """What the requests of a run show of results, by call id, the first request's first.

    A request mostly repeats the one before and adds to it, message for message the same objects, as dialects read what
    repeats once. Of such a row of requests each message is looked at once: all later ones of the row show it too, and
    of what was added the number of the first request is kept that shows it.
    """

    def __init__(self, histories: Sequence[History]) -> None:
        self._count = len(histories)
        self._begins: list[int] = []
        self._rows: list[tuple[dict[str, list[ResultPart]], dict[str, list[int]]]] = []
        before: History = ()
        for number, history in enumerate(histories):
            added = bool(self._rows) and len(history) >= len(before) and all(map(is_, before, history))
            if not added:
                self._begins.append(number)
                self._rows.append(({}, {}))
            results, since = self._rows[-1]
            for m in history[len(before) :] if added else history:
                for part in m.parts:
                    if isinstance(part, ResultPart) and part.call_id:
                        results.setdefault(part.call_id, []).append(part)
                        if added:
                            since.setdefault(part.call_id, []).append(number)
            before = history

    def at_first(self, call_id: str) -> int:
        """How many results with that id the first request shows."""
        return len(self._visible(0, call_id, 0)) if self._rows else 0

    def result(self, call_id: str, index: int, first: int) -> ResultPart | None:
        """Of the results with that id the one at `index` in the first request from `first` on that shows so many; the
        last one where the request `first` shows fewer, as it then holds only what is new (server-side history).
        """
        if first >= self._count:
            return None
        begin = bisect_right(self._begins, first) - 1
        visible = self._visible(begin, call_id, first)
        if visible:
            return visible[min(index, len(visible) - 1)]
        for results, _ in self._rows[begin:]:
            found = results.get(call_id, ())
            if index < len(found):
                return found[index]
        return None

    def _visible(self, row: int, call_id: str, number: int) -> Sequence[ResultPart]:
        """The results with that id that a request of the row shows."""
        results, since = self._rows[row]
        found = results.get(call_id, ())
        added = since.get(call_id)
        return found if not added else found[: len(found) - len(added) + bisect_right(added, number)]


def _in_order(calls: Sequence[Call], answered: Container[int], turns: Sequence[Turn]) -> None:
    """The results of turns of which no emitted call has one yet."""
    unanswered: dict[int, list[Call]] = {}
    for call in calls:
        if call.part is not None and call.turn < len(turns) and call.turn not in answered:
            unanswered.setdefault(call.turn, []).append(call)
    for turn, mine in unanswered.items():
        tail = _tail(turns[turn].told.input or ())
        named = all(r.name for r in tail)
        for call, part in zip(mine, tail, strict=True) if len(tail) == len(mine) else ():
            if not named or part.name == call.name:
                call.result = part


def _tail(history: History) -> list[ResultPart]:
    """The results after the last message with calls; all of them when the history shows no call."""
    begin = 0
    for place in range(len(history) - 1, -1, -1):
        parts = history[place].parts
        if any(isinstance(p, CallPart) for p in parts) and not any(isinstance(p, ResultPart) for p in parts):
            begin = place
            break
    return [p for m in history[begin:] for p in m.parts if isinstance(p, ResultPart)]


def _as_told(calls: Sequence[Call], others: Sequence[Observation]) -> None:
    """Results that other spans of the run show for calls that have none, where all say the same."""
    told: dict[str | None, list[ResultPart]] = {}
    seen: set[int] = set()  # messages that several spans show
    for m in [m for o in others for m in o.input or ()] if calls else ():
        if id(m) not in seen:
            seen.add(id(m))
            for part in m.parts:
                if isinstance(part, ResultPart):
                    told.setdefault(part.call_id, []).append(part)
    for call in calls:
        found = told.get(call.call_id, [])
        if len({str(r.value) for r in found}) == 1:
            call.result = found[0]
