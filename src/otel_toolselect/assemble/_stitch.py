"""Runs that lost their context: several traces of one run, put together again (design section 4).

A client library without an application span makes each model call a trace of its own. Such traces belong together
when the request of one carries in its history a call that another one emitted, or when a tool span carries its call
id. The latest emission before wins, so that repeated runs with the same (scripted) ids stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_toolselect.assemble._identity import CaseAttributes, named
from otel_toolselect.assemble._tree import Group, Key, order
from otel_toolselect.model.observations import Observation


def stitch(groups: Sequence[Group], names: CaseAttributes) -> list[Group]:
    """Groups without an agent root joined along the calls that they share; the others unchanged."""
    groups = _with_relayed(groups)
    loose = sorted((g for g in groups if g.root is None and _decides(g)), key=_group_order)
    emitters: dict[tuple[str, str], list[Group]] = {}
    heads: dict[Key, Group] = {g.key: g for g in loose}
    for group in loose:
        service = group.members[0].span.service
        linked: set[Key] = set()
        for call_id in _history_ids(group):
            earlier = emitters.get((service, call_id), ())
            for other in reversed(list(earlier)):
                if _compatible(other, group, names):
                    linked.add(heads[other.key].key)
                    break
        for key in sorted(linked):
            _join(heads, key, group)
        for call_id in _emitted_ids(group):
            emitters.setdefault((service, call_id), []).append(group)
    merged: dict[Key, Group] = {}
    for group in loose:
        head = heads[group.key]
        if head is group:
            merged.setdefault(head.key, Group(head.key, None))
        target = merged.setdefault(head.key, Group(head.key, None))
        target.members.extend(group.members)
    rest = [g for g in groups if g.key not in heads]
    return rest + list(merged.values())


def _with_relayed(groups: Sequence[Group]) -> list[Group]:
    """Messages of a bus belong to the agent run of their conversation, the nearest in time if there are several."""
    agents = [g for g in groups if g.root is not None]
    conversations: dict[str, list[Group]] = {}
    for g in agents:
        for c in sorted({o.conversation_id for o in g.members if o.conversation_id}):
            conversations.setdefault(c, []).append(g)
    kept: list[Group] = []
    for group in groups:
        ids = {o.conversation_id for o in group.members if o.conversation_id}
        bus = group.root is None and all(o.relayed or o.kind == "other" for o in group.members)
        homes = [g for c in sorted(ids) for g in conversations.get(c, ())] if bus else []
        if homes:
            start = min(o.span.order_ns for o in group.members)
            min(homes, key=lambda g: (_distance(g, start), g.key)).members.extend(group.members)
        else:
            kept.append(group)
    return kept


def _distance(group: Group, time_ns: int) -> int:
    root = group.root.span if group.root is not None else group.members[0].span
    return max(root.start_ns - time_ns, time_ns - max(root.end_ns, root.start_ns), 0)


def _join(heads: dict[Key, Group], key: Key, group: Group) -> None:
    head, old = heads[key], heads[group.key]
    if head is old:
        return
    for k, h in list(heads.items()):
        if h is old:
            heads[k] = head


def _decides(group: Group) -> bool:
    return any(o.kind in ("model", "tool", "catalog") for o in group.members)


def _group_order(group: Group) -> tuple[int, str, str]:
    return min(order(o) for o in group.members)


def _history_ids(group: Group) -> list[str]:
    """Call ids that a group got from elsewhere: in the history of its requests, on its tool spans."""
    own = set(_emitted_ids(group))
    found: dict[str, None] = {}
    for o in sorted(group.members, key=order):
        if o.kind == "model":
            for m in o.input or ():
                ids = [*(c.call_id for c in m.calls), *(r.call_id for r in m.results)]
                found.update((i, None) for i in ids if i and i not in own)
        elif o.tool is not None and o.tool.call_id and o.tool.call_id not in own:
            found[o.tool.call_id] = None
    return list(found)


def _emitted_ids(group: Group) -> list[str]:
    return [c.call_id for o in _models(group.members) for m in o.output or () for c in m.calls if c.call_id]


def _models(members: Iterable[Observation]) -> list[Observation]:
    return sorted((o for o in members if o.kind == "model"), key=order)


def _compatible(a: Group, b: Group, names: CaseAttributes) -> bool:
    """Two groups may be one run unless their spans name different cases or attempts."""
    for keys in (names.case_id, names.suite, names.label, names.attempt):
        x, y = named(a.members, keys), named(b.members, keys)
        if x is not None and y is not None and x != y:
            return False
    return True
