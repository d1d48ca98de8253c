"""Runs that lost their context: several traces of one run, put together again (design section 4).

A client library without an application span makes each model call a trace of its own. Such traces belong together
when the request of one carries in its history a call that another one emitted, or when a tool span carries its call
id. The latest emission before wins, so that repeated runs with the same (scripted) ids stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_toolselect.assemble._identity import CaseAttributes, named
from otel_toolselect.assemble._tree import Group, Key, ident, order
from otel_toolselect.model.observations import Observation


def stitch(groups: Sequence[Group], names: CaseAttributes) -> list[Group]:
    """Groups without an agent root joined to where they belong; two agent runs are never joined."""
    ordered = sorted(_with_relayed(groups), key=_group_order)
    heads: dict[Key, Key] = {g.key: g.key for g in ordered}
    by_key = {g.key: g for g in ordered}
    emitters: dict[tuple[str, str], list[Group]] = {}
    for group in ordered:
        if _lost(group) and _decides(group):
            for key in sorted(_called_from(group, emitters, names)):
                _join(heads, by_key, key, group.key)
        for call_id in _emitted_ids(group):
            emitters.setdefault((_service(group), call_id), []).append(group)
    for group, target in _linked(ordered):
        _join(heads, by_key, target, group.key)
    merged: dict[Key, Group] = {}
    for group in ordered:
        head = by_key[heads[group.key]]
        if head.key not in merged:
            merged[head.key] = Group(head.key, head.root, head.parent, list(head.members), head.context)
        if group is not head:
            merged[head.key].members.extend(group.members)
    return list(merged.values())


def _called_from(group: Group, emitters: dict[tuple[str, str], list[Group]], names: CaseAttributes) -> set[Key]:
    """The groups that emitted the calls which this one shows as history or executes; the latest of each."""
    found: set[Key] = set()
    for call_id in _history_ids(group):
        for other in reversed(emitters.get((_service(group), call_id), [])):
            if _compatible(other, group, names):
                found.add(other.key)
                break
    return found


def _linked(groups: Sequence[Group]) -> list[tuple[Group, Key]]:
    """Groups without an agent whose span links all lead to one other group: a message handled elsewhere."""
    home = {ident(o): g.key for g in groups for o in g.members}
    found: list[tuple[Group, Key]] = []
    for group in groups:
        if group.root is not None or not _decides(group):
            continue
        links = [(link.trace_id, link.span_id) for o in group.members for link in o.span.links]
        targets = {home[key] for key in links if key in home} - {group.key}
        if len(targets) == 1:
            found.append((group, targets.pop()))
    return found


def _lost(group: Group) -> bool:
    """No agent and no application span holds the group together: its spans stand alone in their trace."""
    return group.root is None and not any(o.kind == "other" and not o.span.parent_span_id for o in group.members)


def _service(group: Group) -> str:
    return group.members[0].span.service


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
        decisive = [o for o in group.members if o.kind != "other" or o.relayed]
        bus = group.root is None and bool(decisive) and all(o.relayed for o in decisive)
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


def _join(heads: dict[Key, Key], by_key: dict[Key, Group], key: Key, other: Key) -> None:
    """Makes two groups one; the head is the agent's, else the first of them. Two agents stay two."""
    head, old = heads[key], heads[other]
    if head == old or (by_key[head].root is not None and by_key[old].root is not None):
        return
    if by_key[old].root is not None or (by_key[head].root is None and _later(by_key[head], by_key[old])):
        head, old = old, head
    for k, h in heads.items():
        if h == old:
            heads[k] = head


def _later(a: Group, b: Group) -> bool:
    return _group_order(a) > _group_order(b)


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
