"""Which traces have to be assembled together (design section 4: runs may be stitched across traces).

What crosses traces is asked for by one side and held by the other: a trace without an agent's context wants the call
that its history shows, the span that it links to, the conversation that its message was sent in, the generation that it
records once more; the trace that may be meant offers them. Two traces that only offer never meet, so that ordinary runs
under an agent span stay apart whatever ids they share. Every rule here is that of a join in `_stitch` or `_same`, taken
wide: a tie too many costs time, a tie too few would change a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from otel_toolselect.assemble._same import STREAM_NS, ended, is_late, is_waiting, look, sound
from otel_toolselect.assemble._stitch import Wanted, decides, emitted_ids, lost, on_bus, shown_ids, spoken_in
from otel_toolselect.assemble._tree import Tree, ident
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.quick import quick

_PERIOD_NS = 600 * 10**9
"""Model spans can overlap only if both touch one of these periods; few calls touch two."""


@quick
@dataclass(frozen=True, slots=True)
class Bonds:
    """What a trace offers to others and wants of them, as opaque keys. Two traces have to be assembled together when
    one wants what the other offers, directly or through a chain of others.
    """

    offers: frozenset[str] = frozenset()
    wants: frozenset[str] = frozenset()


def bonds(observations: Iterable[Observation]) -> Bonds:
    """The bonds of one trace. Pure; order and repeats change nothing."""
    listed = list(observations)
    outside = _outside(listed)
    offers = {_key("trace", o.span.trace_id) for o in listed[:1]}
    offers.update(_calls(emitted_ids(listed)))
    for m in listed:
        if m.kind == "model":
            offers.update(_generation(m))
    if len(outside) < len(listed):
        # only a dialect of buses names a conversation that messages are sent in
        offers.update([_key("bus", *c) for c in spoken_in(listed)])
    return Bonds(frozenset(offers), frozenset(_wants(outside)) if outside else frozenset())


def _outside(listed: Sequence[Observation]) -> list[Observation]:
    """What stands outside any agent. Most spans stand right below one: that tells without a tree."""
    agents = {ident(o) for o in listed if o.kind == "agent"}
    far = [o for o in listed if o.kind != "agent" and (o.span.trace_id, o.span.parent_span_id) not in agents]
    if not far or not agents:
        return far
    tree = Tree(listed)
    return [o for o in far if tree.agent_above(o) is None]


def _wants(outside: Sequence[Observation]) -> Iterator[str]:
    """What those spans want of other traces that stand outside any agent: together they are a run, or what was lost of
    one.
    """
    for m in outside:
        if m.kind == "model":
            yield from _generation(m)
    if on_bus(outside):
        yield from (_key("bus", *c) for c in spoken_in(outside))
    if decides(outside):
        yield from (_key("trace", link.trace_id) for o in outside for link in o.span.links)
        if lost(outside):
            yield from _calls(shown_ids(outside))


def _calls(wanted: Iterable[Wanted]) -> list[str]:
    return [f"call\0{service}\0{call_id}" for service, call_id in wanted]


def _generation(m: Observation) -> list[str]:
    """What another record of the same generation has too."""
    if not sound(m):
        return []
    start = m.span.start_ns
    found: list[str] = []
    if m.response_id:
        found += [f"response\0{m.response_id}\0{p}" for p in _periods(start, ended(m))]
    if is_late(m):
        found.append(_key("stream", *_digest(m), str(start // _PERIOD_NS)))
    elif is_waiting(m):
        found += [_key("stream", *_digest(m), str(p)) for p in _periods(start, m.span.end_ns + STREAM_NS)]
    return found


def _periods(start_ns: int, end_ns: int) -> range:
    return range(start_ns // _PERIOD_NS, end_ns // _PERIOD_NS + 1)


def _digest(m: Observation) -> tuple[str]:
    return (blake2b(repr(look(m)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(),)


def _key(*parts: str) -> str:
    return "\0".join(parts)


class _Sets:
    """Union-find over trace numbers."""

    def __init__(self, count: int) -> None:
        self._heads = list(range(count))

    def head(self, i: int) -> int:
        heads = self._heads
        while heads[i] != i:
            heads[i] = heads[heads[i]]
            i = heads[i]
        return i

    def join(self, a: int, b: int) -> None:
        self._heads[self.head(a)] = self.head(b)


def components(traces: Iterable[Sequence[Observation]]) -> Iterator[list[Observation]]:
    """The observations of all traces, one list for what has to be assembled together.

    `traces` gives the observations of one trace at a time, every trace once, and is walked twice in the same order: of
    the first walk only bonds are kept, of the second what waits for the rest of its component. So memory holds little
    more than the largest components, as long as `traces` itself does.
    """
    found = [bonds(observations) for observations in traces]
    sets = _Sets(len(found))
    asked = {want for b in found for want in b.wants}
    wanting: dict[str, int] = {}
    for i, b in enumerate(found):
        for want in b.wants:
            wanting.setdefault(want, i)
    offered: set[str] = set()
    for i, b in enumerate(found):
        for offer in b.offers & asked:
            sets.join(i, wanting[offer])
            offered.add(offer)
    for i, b in enumerate(found):
        for want in b.wants & offered:
            sets.join(i, wanting[want])
    heads = [sets.head(i) for i in range(len(found))]
    left = [0] * len(found)
    for head in heads:
        left[head] += 1
    found.clear()
    held: dict[int, list[Observation]] = {}
    for head, observations in zip(heads, traces, strict=True):
        held.setdefault(head, []).extend(observations)
        left[head] -= 1
        if not left[head]:
            yield held.pop(head)
