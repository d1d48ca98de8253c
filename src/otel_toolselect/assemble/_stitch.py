"""Runs that lost their context: several traces of one run, put together again (design section 4).

A client library without an application span makes each model call a trace of its own. Such traces belong together
when the request of one carries in its history a call that another one emitted, or when a tool span carries its call
id. The latest emission before wins, so that repeated runs with the same (scripted) ids stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from otel_toolselect.assemble._identity import CaseAttributes, Named
from otel_toolselect.assemble._tree import Group, Key, Order, ident, order
from otel_toolselect.model.observations import CallPart, Observation, TextPart

Wanted: TypeAlias = tuple[str, str]  # service, call id
Case: TypeAlias = tuple[str | None, ...]  # the values that are named, None for what is not
Conversation: TypeAlias = tuple[str, str]  # dialect, conversation id


def stitch(groups: Sequence[Group], names: CaseAttributes) -> list[Group]:
    """Groups without an agent root joined to where they belong; two agent runs are never joined."""
    kept = _with_relayed(groups)
    if not any(g.root is None and decides(g.members) for g in kept):
        return kept
    ordered = sorted(kept, key=_group_order)
    heads = _Heads(ordered)
    asked = {g.key: _wanted(g.members) for g in ordered if g.root is None and lost(g.members) and decides(g.members)}
    ids = {want for found in asked.values() for want in found}
    emitters: dict[Wanted, list[tuple[Key, Case]]] = {}
    for group in ordered if ids else ():
        case = _case(group, names)
        for key in sorted(_called_from(case, asked.get(group.key, ()), emitters)):
            heads.join(key, group.key)
        for given in emitted_ids(group.members):
            if given in ids:
                emitters.setdefault(given, []).append((group.key, case))
    for group, target in _linked(ordered):
        heads.join(target, group.key)
    return heads.merged(ordered)


class _Heads:
    """Which group stands for which; the head is the agent's, else the first of those joined."""

    def __init__(self, ordered: Sequence[Group]) -> None:
        self._place = {g.key: i for i, g in enumerate(ordered)}
        self._by_key = {g.key: g for g in ordered}
        self._above: dict[Key, Key] = {}

    def head(self, key: Key) -> Key:
        above = self._above
        while key in above:
            up = above[key]
            if up in above:  # the way is halved: a long chain is walked once
                above[key] = above[up]
            key = up
        return key

    def join(self, key: Key, other: Key) -> None:
        """Makes two groups one. Two agents stay two."""
        head, old = self.head(key), self.head(other)
        agents = self._by_key[head].root is not None, self._by_key[old].root is not None
        if head == old or all(agents):
            return
        if agents[1] or (not agents[0] and self._place[head] > self._place[old]):
            head, old = old, head
        self._above[old] = head

    def merged(self, ordered: Sequence[Group]) -> list[Group]:
        merged: dict[Key, Group] = {}
        for group in ordered:
            head = self._by_key[self.head(group.key)]
            if head.key not in merged:
                merged[head.key] = Group(head.key, head.root, head.parent, list(head.members), head.context)
            if group is not head:
                merged[head.key].members.extend(group.members)
        return list(merged.values())


def _called_from(case: Case, asked: Iterable[Wanted], emitters: dict[Wanted, list[tuple[Key, Case]]]) -> set[Key]:
    """The groups that emitted the calls which one of that case shows as history or executes; the latest of each."""
    found: set[Key] = set()
    for want in asked:
        for key, theirs in reversed(emitters.get(want, ())):
            if _compatible(theirs, case):
                found.add(key)
                break
    return found


def _linked(groups: Sequence[Group]) -> list[tuple[Group, Key]]:
    """Groups without an agent whose span links all lead to one other group: a message handled elsewhere."""
    linking = [g for g in groups if g.root is None and any(o.span.links for o in g.members) and decides(g.members)]
    home = {ident(o): g.key for g in groups for o in g.members} if linking else {}
    found: list[tuple[Group, Key]] = []
    for group in linking:
        links = [(link.trace_id, link.span_id) for o in group.members for link in o.span.links]
        targets = {home[key] for key in links if key in home} - {group.key}
        if len(targets) == 1:
            found.append((group, targets.pop()))
    return found


def lost(members: Iterable[Observation]) -> bool:
    """No application span holds together what stands outside any agent: its spans are alone in their trace."""
    return not any(o.kind == "other" and not o.span.parent_span_id for o in members)


def _with_relayed(groups: Sequence[Group]) -> list[Group]:
    """Messages of a bus belong to the agent run of their conversation (as the same dialect names it), the nearest in
    time if there are several.
    """
    relayed = {g.key for g in groups if g.root is None and on_bus(g.members)}
    if not relayed:
        return list(groups)
    agents = [g for g in groups if g.root is not None]
    conversations: dict[Conversation, list[Group]] = {}
    for g in agents:
        for c in spoken_in(g.members):
            conversations.setdefault(c, []).append(g)
    kept: list[Group] = []
    for group in groups:
        ids = spoken_in(group.members) if group.key in relayed else ()
        homes = [g for c in ids for g in conversations.get(c, ())]
        if homes:
            start = min(o.span.order_ns for o in group.members)
            min(homes, key=lambda g: (_distance(g, start), g.key)).members.extend(group.members)
        else:
            kept.append(group)
    return kept


def on_bus(members: Iterable[Observation]) -> bool:
    """All that they tell was relayed."""
    decisive = [o.relayed for o in members if o.kind != "other" or o.relayed]
    return bool(decisive) and all(decisive)


def spoken_in(members: Iterable[Observation]) -> list[Conversation]:
    return sorted({(o.dialect, o.conversation_id) for o in members if o.conversation_id})


def _distance(group: Group, time_ns: int) -> int:
    root = group.root.span if group.root is not None else group.members[0].span
    return max(root.start_ns - time_ns, time_ns - max(root.end_ns, root.start_ns), 0)


def decides(members: Iterable[Observation]) -> bool:
    return any(o.kind in ("model", "tool", "catalog") for o in members)


def _group_order(group: Group) -> Order:
    return min(map(order, group.members))


def _wanted(members: Sequence[Observation]) -> list[Wanted]:
    """Call ids that a group got from elsewhere: in the history of its requests, on its tool spans."""
    own = set(emitted_ids(members))
    return [want for want in shown_ids(sorted(members, key=order)) if want not in own]


def shown_ids(members: Iterable[Observation]) -> list[Wanted]:
    """The call ids in the histories of requests and on tool spans, each once, as first seen."""
    found: dict[Wanted, None] = {}
    seen: set[tuple[str, int]] = set()  # messages: requests repeat the same objects
    for o in members:
        service = o.span.service
        if o.kind == "model":
            for m in o.input or ():
                if (service, id(m)) not in seen:
                    seen.add((service, id(m)))
                    for part in m.parts:
                        if not isinstance(part, TextPart) and part.call_id:
                            found[service, part.call_id] = None
        elif o.tool is not None and o.tool.call_id:
            found[service, o.tool.call_id] = None
    return list(found)


def emitted_ids(members: Iterable[Observation]) -> list[Wanted]:
    """The ids of the calls that model spans ask for."""
    found: list[Wanted] = []
    for o in members:
        if o.kind == "model" and o.output:
            service = o.span.service
            for m in o.output:
                found += [(service, p.call_id) for p in m.parts if isinstance(p, CallPart) and p.call_id]
    return found


def _case(group: Group, names: CaseAttributes) -> Case:
    """Case, suite, label and attempt that the spans of a group name."""
    named = Named(group.members, names)
    return tuple([named.first(keys) for keys in (names.case_id, names.suite, names.label, names.attempt)])


def _compatible(mine: Case, theirs: Case) -> bool:
    """Two groups may be one run unless their spans name different cases or attempts."""
    return mine == theirs or all(x is None or y is None or x == y for x, y in zip(mine, theirs, strict=True))
