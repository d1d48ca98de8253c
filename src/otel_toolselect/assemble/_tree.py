"""Which observations belong to which run (design section 4).

A run is the sub-tree under an agent span, or what a trace holds outside any agent. An agent span inside another agent
is a run of its own (nested, a sub-agent or a hand-off) when a tool span lies between them, or when both name
different agents and the outer one has a turn of its own or another agent already stands for it; otherwise it is the
same run seen twice (frameworks wrap agents in agents).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from otel_toolselect.model.observations import Observation

Key: TypeAlias = tuple[str, str]  # trace id, span id of the root; "" for what lies outside any agent


@dataclass(slots=True)
class Group:
    """The observations of one run in the making. `context` are the spans above its root, nearest first."""

    key: Key
    root: Observation | None
    parent: Key | None = None
    members: list[Observation] = field(default_factory=list)
    context: list[Observation] = field(default_factory=list)

    def of(self, kind: str) -> list[Observation]:
        return [o for o in self.members if o.kind == kind]


def ident(o: Observation) -> Key:
    return (o.span.trace_id, o.span.span_id)


def order(o: Observation) -> tuple[int, str, str]:
    """A fixed order: by time, ids breaking ties."""
    return (o.span.order_ns, o.span.trace_id, o.span.span_id)


class Tree:
    """Parents and ancestors of observations; cycles and missing parents end a walk."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self.by_id = {ident(o): o for o in observations}
        self._above: dict[Key, tuple[Observation, ...]] = {}

    def parent(self, o: Observation) -> Observation | None:
        found = self.by_id.get((o.span.trace_id, o.span.parent_span_id)) if o.span.parent_span_id else None
        return None if found is o else found

    def ancestors(self, o: Observation) -> tuple[Observation, ...]:
        """From the parent up."""
        key = ident(o)
        known = self._above.get(key)
        if known is None:
            chain: list[Observation] = []
            seen = {key}
            current = self.parent(o)
            while current is not None and ident(current) not in seen:
                chain.append(current)
                seen.add(ident(current))
                current = self.parent(current)
            known = self._above[key] = tuple(chain)
        return known

    def orphan(self, o: Observation) -> bool:
        """The span names a parent that is not there."""
        return bool(o.span.parent_span_id) and self.parent(o) is None


def groups(observations: Sequence[Observation], tree: Tree) -> dict[Key, Group]:
    """All groups by key; groups without any model or tool observation are kept (a run may have recorded nothing)."""
    agents = sorted((o for o in observations if o.kind == "agent"), key=lambda o: (len(tree.ancestors(o)), order(o)))
    boundary = _boundaries(agents, observations, tree)
    found: dict[Key, Group] = {}
    for o in sorted(observations, key=order):
        key = _home(o, boundary, tree)
        group = found.get(key)
        if group is None:
            root = tree.by_id.get(key)
            group = found[key] = Group(key, root)
            if root is not None:
                group.context = list(tree.ancestors(root))
                group.parent = _parent_key(root, boundary, tree)
        group.members.append(o)
    return found


def _home(o: Observation, boundary: dict[Key, Key], tree: Tree) -> Key:
    for candidate in (o, *tree.ancestors(o)):
        key = boundary.get(ident(candidate))
        if key is not None:
            return key
    return (o.span.trace_id, "")


def _parent_key(root: Observation, boundary: dict[Key, Key], tree: Tree) -> Key | None:
    for candidate in tree.ancestors(root):
        key = boundary.get(ident(candidate))
        if key is not None and key != boundary[ident(root)]:
            return key
    return None


def _boundaries(agents: Sequence[Observation], observations: Sequence[Observation], tree: Tree) -> dict[Key, Key]:
    """For each agent span the key of the run that it stands for: its own, or that of the agent around it."""
    own_turns: dict[Key, int] = defaultdict(int)
    for o in observations:
        if o.kind == "model":
            for above in tree.ancestors(o):
                if above.kind == "agent":
                    own_turns[ident(above)] += 1
                    break
    boundary: dict[Key, Key] = {}
    names: dict[Key, str | None] = {}
    for agent in agents:
        outer = _outer(agent, tree)
        if outer is None:
            boundary[ident(agent)] = ident(agent)
            names[ident(agent)] = agent.agent if own_turns[ident(agent)] else None
            continue
        above, tool_between = outer
        home = boundary[ident(above)]
        known = names.get(home)
        same = known is None or agent.agent is None or agent.agent == known
        if tool_between or not same:
            boundary[ident(agent)] = ident(agent)
            names[ident(agent)] = agent.agent
        else:
            boundary[ident(agent)] = home
            names[home] = known or agent.agent
    return boundary


def _outer(agent: Observation, tree: Tree) -> tuple[Observation, bool] | None:
    """The nearest agent around an agent, and whether a tool span lies between them."""
    tool = False
    for above in tree.ancestors(agent):
        if above.kind == "agent":
            return above, tool
        tool = tool or above.kind == "tool"
    return None
