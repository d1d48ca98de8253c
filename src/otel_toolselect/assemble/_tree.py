"""Which observations belong to which run (design section 4).

A run is the sub-tree under an agent span, or what a trace holds outside any agent. An agent span inside another agent
is a run of its own (nested, a sub-agent or a hand-off) when a tool span lies between them, or when both name
different agents and the outer one has a turn of its own or another agent already stands for it; otherwise it is the
same run seen twice (frameworks wrap agents in agents).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from otel_toolselect.model.observations import Observation

Key: TypeAlias = tuple[str, str]  # trace id, span id of the root; "" for what lies outside any agent
Order: TypeAlias = tuple[int, str, str]


@dataclass(slots=True)
class Group:
    """The observations of one run in the making. `context` are the spans above its root, nearest first."""

    key: Key
    root: Observation | None
    parent: Key | None = None
    members: list[Observation] = field(default_factory=list)
    context: Sequence[Observation] = ()

    def of(self, kind: str) -> list[Observation]:
        return [o for o in self.members if o.kind == kind]


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
        self._above: dict[int, tuple[Observation, ...]] = {}

    def parent(self, o: Observation) -> Observation | None:
        span = o.span
        found = self.by_id.get((span.trace_id, span.parent_span_id)) if span.parent_span_id else None
        return None if found is o else found

    def ancestors(self, o: Observation) -> tuple[Observation, ...]:
        """From the parent up."""
        known = self._above.get(id(o))
        return self._climb(o) if known is None else known

    def _climb(self, o: Observation) -> tuple[Observation, ...]:
        above = self.parent(o)
        if above is None:
            found: tuple[Observation, ...] = ()
        elif not above.span.parent_span_id:
            found = (above,)
        else:
            chain: list[Observation] = []
            seen = {id(o)}
            while above is not None and id(above) not in seen:
                chain.append(above)
                seen.add(id(above))
                above = self.parent(above)
            found = tuple(chain)
        self._above[id(o)] = found
        return found

    def in_agent(self, o: Observation) -> bool:
        """Whether an agent span is around an observation, or is it."""
        if o.kind == "agent":
            return True
        for above in self.ancestors(o):  # noqa: SIM110 - asked of every span: `any` over a generator takes twice the time
            if above.kind == "agent":
                return True
        return False

    def orphan(self, o: Observation) -> bool:
        """The span names a parent that is not there."""
        return bool(o.span.parent_span_id) and self.parent(o) is None


def groups(observations: Sequence[Observation], tree: Tree) -> dict[Key, Group]:
    """All groups by key; groups without any model or tool observation are kept (a run may have recorded nothing).

    `observations` are in order.
    """
    boundary = _boundaries(observations, tree)
    found: dict[Key, Group] = {}
    for o in observations:
        key = _home(o, boundary, tree)
        group = found.get(key)
        if group is None:
            root = tree.by_id.get(key)
            group = found[key] = Group(key, root)
            if root is not None:
                group.context = tree.ancestors(root)
                group.parent = _parent_key(root, boundary, tree)
        group.members.append(o)
    return found


def _home(o: Observation, boundary: dict[int, Key], tree: Tree) -> Key:
    key = boundary.get(id(o))
    if key is None:
        for above in tree.ancestors(o):
            key = boundary.get(id(above))
            if key is not None:
                return key
        return (o.span.trace_id, "")
    return key


def _parent_key(root: Observation, boundary: dict[int, Key], tree: Tree) -> Key | None:
    for above in tree.ancestors(root):
        key = boundary.get(id(above))
        if key is not None and key != boundary[id(root)]:
            return key
    return None


def _boundaries(observations: Sequence[Observation], tree: Tree) -> dict[int, Key]:
    """For each agent span the key of the run that it stands for: its own, or that of the agent around it."""
    agents = [o for o in observations if o.kind == "agent"]
    agents.sort(key=lambda o: len(tree.ancestors(o)))  # the outer before the inner, else the order that they are in
    deciding = _with_own_turns(observations, tree)
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


def _with_own_turns(observations: Sequence[Observation], tree: Tree) -> set[int]:
    """The agents with a model span right below them, no other agent between."""
    found: set[int] = set()
    for o in observations:
        if o.kind == "model":
            for above in tree.ancestors(o):
                if above.kind == "agent":
                    found.add(id(above))
                    break
    return found


def _outer(agent: Observation, tree: Tree) -> tuple[Observation | None, bool]:
    """The nearest agent around an agent, and whether a tool span lies between them."""
    tool = False
    for above in tree.ancestors(agent):
        if above.kind == "agent":
            return above, tool
        tool = tool or above.kind == "tool"
    return None, False
