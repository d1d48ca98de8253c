"""Which observations belong to which run (design section 4).

A run is the sub-tree under an agent span, or what a trace holds outside any agent. An agent span inside another agent
is a run of its own (nested, a sub-agent or a hand-off) when a tool span lies between them, or when both name
different agents and the outer one has a turn of its own or another agent already stands for it; otherwise it is the
same run seen twice (frameworks wrap agents in agents).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from otel_toolselect.model.observations import Observation

Key: TypeAlias = tuple[str, str]  # trace id, span id of the root; "" for what lies outside any agent
Order: TypeAlias = tuple[int, str, str]

_AGENT = ("agent",)
_ACTING = ("agent", "model", "tool")


@dataclass(slots=True)
class Group:
    """The observations of one run in the making. `context` are the spans above its root, nearest first."""

    key: Key
    root: Observation | None
    parent: Key | None = None
    members: list[Observation] = field(default_factory=list)
    context: Sequence[Observation] = ()


def ident(o: Observation) -> Key:
    return (o.span.trace_id, o.span.span_id)


def order(o: Observation) -> Order:
    """A fixed order: by time, ids breaking ties."""
    span = o.span
    return (span.start_ns or span.end_ns, span.trace_id, span.span_id)


class Tree:
    """Parents and ancestors of observations; cycles and missing parents end a walk.

    Of two observations with the same ids the last stands for both. Observations are told by identity inside, as
    equality would compare their contents.
    """

    def __init__(self, observations: Sequence[Observation]) -> None:
        self.by_id = {(o.span.trace_id, o.span.span_id): o for o in observations}
        self._agents: dict[int, Observation | None] = {}
        self._acting: dict[int, Observation | None] = {}

    def parent(self, o: Observation) -> Observation | None:
        span = o.span
        found = self.by_id.get((span.trace_id, span.parent_span_id)) if span.parent_span_id else None
        return None if found is o else found

    def ancestors(self, o: Observation) -> tuple[Observation, ...]:
        """From the parent up."""
        chain: list[Observation] = []
        seen = {id(o)}
        above = self.parent(o)
        while above is not None and id(above) not in seen:
            chain.append(above)
            seen.add(id(above))
            above = self.parent(above)
        return tuple(chain)

    def agent_above(self, o: Observation) -> Observation | None:
        """The nearest agent span among the ancestors."""
        above = self.parent(o)
        return above if above is None or above.kind == "agent" else self._nearest(o, _AGENT, self._agents)

    def acting_above(self, o: Observation) -> Observation | None:
        """The nearest agent, model or tool span among the ancestors."""
        above = self.parent(o)
        return above if above is None or above.kind in _ACTING else self._nearest(o, _ACTING, self._acting)

    def in_agent(self, o: Observation) -> bool:
        """Whether an agent span is around an observation, or is it."""
        return o.kind == "agent" or self.agent_above(o) is not None

    def orphan(self, o: Observation) -> bool:
        """The span names a parent that is not there."""
        return bool(o.span.parent_span_id) and self.parent(o) is None

    def _nearest(
        self, o: Observation, kinds: Collection[str], known: dict[int, Observation | None]
    ) -> Observation | None:
        """The first of these kinds on the way up. What lies between is walked once, however many ask: it has the same
        answer, as nothing of these kinds lies between. A way that comes back to its begin ends there.
        """
        above = self.parent(o)
        path: dict[int, None] = {}
        while above is not None and above.kind not in kinds and id(above) not in path:
            if id(above) in known:
                above = known[id(above)]
                break
            path[id(above)] = None
            above = self.parent(above)
        if above is not None and above.kind not in kinds:
            above = None  # a circle
        known.update(dict.fromkeys(path, above))
        return None if above is o else above


def groups(observations: Sequence[Observation], tree: Tree) -> dict[Key, Group]:
    """All groups by key; groups without any model or tool observation are kept (a run may have recorded nothing).

    `observations` are in order.
    """
    boundary = _boundaries(observations, tree)
    found: dict[Key, Group] = {}
    for o in observations:
        agent = o if o.kind == "agent" else tree.agent_above(o)
        key = (o.span.trace_id, "") if agent is None else boundary[id(agent)]
        group = found.get(key)
        if group is None:
            root = tree.by_id.get(key)
            group = found[key] = Group(key, root)
            if root is not None:
                group.context = tree.ancestors(root)
                group.parent = _parent_key(group, boundary)
        group.members.append(o)
    return found


def _parent_key(group: Group, boundary: dict[int, Key]) -> Key | None:
    for above in group.context:
        key = boundary.get(id(above))
        if key is not None and key != group.key:
            return key
    return None


def _boundaries(observations: Sequence[Observation], tree: Tree) -> dict[int, Key]:
    """For each agent span the key of the run that it stands for: its own, or that of the agent around it."""
    agents = [o for o in observations if o.kind == "agent"]
    if len(agents) < 2:
        return {id(agent): ident(agent) for agent in agents}
    agents.sort(key=lambda o: len(tree.ancestors(o)))  # the outer before the inner, else the order that they are in
    deciding = {id(tree.agent_above(o)) for o in observations if o.kind == "model"}  # with turns of their own
    boundary: dict[int, Key] = {}
    names: dict[Key, str | None] = {}
    for agent in agents:
        key = ident(agent)
        above, tool_between = _outer(agent, tree)
        home = boundary.get(id(above))
        if home is None:  # nothing around it, or a circle of agents, which begins anywhere
            boundary[id(agent)] = key
            names[key] = agent.agent if id(agent) in deciding else None
            continue
        known = names.get(home)
        same = known is None or agent.agent is None or agent.agent == known
        if tool_between or not same:
            boundary[id(agent)] = key
            names[key] = agent.agent
        else:
            boundary[id(agent)] = home
            names[home] = known or agent.agent
    return boundary


def _outer(agent: Observation, tree: Tree) -> tuple[Observation | None, bool]:
    """The nearest agent around an agent, and whether a tool span lies between them."""
    tool = False
    for above in tree.ancestors(agent):
        if above.kind == "agent":
            return above, tool
        tool = tool or above.kind == "tool"
    return None, False
