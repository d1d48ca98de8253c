"""Which model spans record the same generation though none lies inside the other: instrumentations side by side, the
second of them perhaps in a trace of its own, as it knew no context.

Such spans share a response id and overlap in time; or one is a streamed answer, written as a span of no length by the
library that wrote its request's span. Across traces a clock must be sound to say that two spans overlap, and one of
them must stand outside any agent: what an agent's own trace says of itself is not given to another agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_toolselect.assemble._tree import Tree
from otel_toolselect.model.observations import Observation

STREAM_NS = 600 * 10**9
"""How long after its request's span a streamed answer may still be written."""
LONGEST_NS = 3600 * 10**9
"""What lasts longer is no model call but a wrong clock, and would overlap everything."""


class Same:
    """Union-find over model spans, told by identity. No two agents of different traces get into one set."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._heads: dict[int, int] = {}
        self._agents: dict[int, str] = {}  # trace of the agent in a set of several, by the set's head

    def head(self, o: Observation) -> int:
        heads, key = self._heads, id(o)
        while key in heads:
            above = heads[key]
            if above in heads:  # the way is halved: a long chain is walked once
                heads[key] = heads[above]
            key = above
        return key

    @property
    def any(self) -> bool:
        """Whether any two were joined."""
        return bool(self._heads)

    def rooted(self, o: Observation) -> bool:
        """Whether an agent span is around it."""
        return self._tree.in_agent(o)

    def join(self, a: Observation, b: Observation) -> None:
        head, other = self.head(a), self.head(b)
        if head == other:
            return
        mine, theirs = self._agent(head, a), self._agent(other, b)
        if mine and theirs and mine != theirs:
            return
        self._heads[head] = other
        self._agents[other] = mine or theirs

    def _agent(self, head: int, o: Observation) -> str:
        known = self._agents.get(head)
        if known is None:
            return o.span.trace_id if self.rooted(o) else ""
        return known


def join_by_response(ordered: Sequence[Observation], same: Same) -> None:
    ids = [m.response_id for m in ordered if m.response_id]
    if len(set(ids)) == len(ids):
        return
    by_response: dict[str, list[Observation]] = {}
    for m in ordered:
        if m.response_id:
            by_response.setdefault(m.response_id, []).append(m)
    for named in by_response.values():
        if len(named) == 1:
            continue
        by_trace: dict[str, list[Observation]] = {}
        for m in named:
            by_trace.setdefault(m.span.trace_id, []).append(m)
        for mine in by_trace.values():
            _join_within(mine, same)
        if len(by_trace) > 1:
            _join_across(named, same)


def _join_within(named: Sequence[Observation], same: Same) -> None:
    """Spans of one trace and response id, in order: what overlaps any before overlaps that which ends last so far."""
    last = named[0]
    for m in named[1:]:
        if _overlap(m, last):
            same.join(m, last)
        last = _later(last, m)


def _join_across(named: Sequence[Observation], same: Same) -> None:
    """The same over traces."""
    last: Observation | None = None
    outside: Observation | None = None  # the last to end of those outside any agent
    for m in named:
        if not sound(m):
            continue
        rooted = same.rooted(m)
        for other in (outside,) if rooted else (last, outside):
            if other is not None and _overlap(m, other):
                same.join(m, other)
        last = _later(last, m)
        outside = outside if rooted else _later(outside, m)


def _later(known: Observation | None, o: Observation) -> Observation:
    return o if known is None or ended(o) > ended(known) else known


def ended(o: Observation) -> int:
    return max(o.span.end_ns, o.span.start_ns)


def sound(o: Observation) -> bool:
    """Whether a span's times can be held against those of another trace."""
    return o.span.start_ns > 0 and ended(o) - o.span.start_ns <= LONGEST_NS


def _overlap(later: Observation, earlier: Observation) -> bool:
    return later.span.order_ns <= ended(earlier)


def join_streamed(ordered: Sequence[Observation], same: Same) -> None:
    late = [m for m in ordered if is_late(m)]
    waiting: dict[tuple[object, ...], list[Observation]] = {}
    for m in ordered if late else ():
        if is_waiting(m):
            waiting.setdefault(look(m), []).append(m)
    for m in late:
        asked = next((o for o in waiting.get(look(m), ()) if _streams_into(o, m) and _may_meet(o, m, same)), None)
        if asked is not None:
            same.join(m, asked)


def is_late(m: Observation) -> bool:
    """Perhaps a streamed answer, written as a span of no length of its own."""
    return m.output is not None and m.span.end_ns == m.span.start_ns and bool(m.input)


def is_waiting(m: Observation) -> bool:
    """Perhaps the request of a streamed answer."""
    return m.output is None and bool(m.input)


def look(m: Observation) -> tuple[object, ...]:
    """What is the same of two spans with the same request, library and service, and can be looked up."""
    shown = m.input or ()
    roles: Iterable[tuple[str, int]] = ((i.role, len(i.parts)) for i in shown)
    return (m.span.scope_name, m.span.service, *roles, shown[-1].text if shown else "")


def _streams_into(asked: Observation, late: Observation) -> bool:
    return asked.span.start_ns <= late.span.start_ns <= asked.span.end_ns + STREAM_NS and asked.input == late.input


def _may_meet(a: Observation, b: Observation, same: Same) -> bool:
    if a.span.trace_id == b.span.trace_id:
        return True
    return sound(a) and sound(b) and not (same.rooted(a) and same.rooted(b))
