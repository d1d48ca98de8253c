"""Emitted and executed calls, put together: one call is one call (R7).

What the model emitted is the decision; a tool span is its execution. They meet by call id within the turn, else by
name and arguments in order, else by name in order. What no tool span shows was not executed; what no model output
shows was executed only. Results come from the tool span, else from the next request's history.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

from otel_toolselect.assemble._tree import Tree, order
from otel_toolselect.assemble._turns import Turn, user_text
from otel_toolselect.model.observations import CallPart, Observation, ResultPart, ToolUse
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import canonical


@dataclass(slots=True)
class Call:
    """A call in the making."""

    turn: int
    position: int
    name: str
    dialect: str
    part: CallPart | None = None
    use: ToolUse | None = None
    span: Observation | None = None
    result: ResultPart | None = None
    taken: bool = False

    @property
    def call_id(self) -> str | None:
        return (self.part.call_id if self.part else None) or (self.use.call_id if self.use else None)


def emitted(turns: Sequence[Turn]) -> list[Call]:
    """Calls in the model's output, in its order. A turn whose output was not recorded is read from the next history."""
    calls: list[Call] = []
    for turn in turns:
        parts = turn.calls
        if turn.told.output is None and turn.index < len(turns):
            parts = _recovered(turns[turn.index], calls)
        for part in _once(parts) if len(parts) > 1 else parts:
            calls.append(Call(turn.index, len(calls), part.name, turn.told.dialect, part))
    return calls


def _once(parts: Sequence[CallPart]) -> Sequence[CallPart]:
    """Each call once that is written twice into one message: with the same id, name and arguments."""
    named: list[tuple[str, str | None]] = [(part.name, part.call_id) for part in parts if part.call_id]
    if len(set(named)) == len(named):
        return parts
    count = Counter(named)
    seen: set[tuple[str, str | None, str]] = set()
    kept: list[CallPart] = []
    for part in parts:
        if count[part.name, part.call_id] > 1:
            key = (part.name, part.call_id, _args_key(part))
            if key in seen:
                continue
            seen.add(key)
        kept.append(part)
    return kept


def _recovered(following: Turn, known: Sequence[Call]) -> list[CallPart]:
    """Calls of an unrecorded answer: those after the last user text in the next request that nobody emitted yet."""
    tail: list[CallPart] = []
    for m in following.told.input or ():
        if user_text(m):
            tail = []
        tail.extend(m.calls)
    ids = {c.part.call_id for c in known if c.part and c.part.call_id}
    fresh = [p for p in tail if not (p.call_id and p.call_id in ids)]
    return fresh if all(p.call_id for p in tail) else fresh[len(known) :]


def _args_key(part: CallPart) -> str:
    return part.raw or "?" if isinstance(part.args, Unknown) else canonical(part.args)


def executions(tools: Sequence[Observation], tree: Tree) -> list[Observation]:
    """Tool spans, which come in order, one per execution: a span of the same tool inside another (client and server,
    framework and native) is the same execution, its facts fill the gaps of the outer one.
    """
    nested = {id(t) for t in tools if (above := tree.acting_above(t)) is not None and above.kind != "agent"}
    if len(tools) < 2 or not (nested or any(t.tool is not None and t.tool.side == "server" for t in tools)):
        return list(tools)
    inner: dict[int, list[Observation]] = {}
    tops: list[Observation] = []
    known = {id(t) for t in tools}
    for tool in tools:
        outer = _outermost(tool, tree, known) if id(tool) in nested else None
        if outer is None:
            tops.append(tool)
        else:
            inner.setdefault(id(outer), []).append(tool)
    served: set[int] = set()
    for tool in [t for t in tops if t.tool is not None and t.tool.side == "server"]:
        outer = next((t for t in tops if _serves(t, tool)), None)
        if outer is not None:
            served.add(id(tool))
            inner.setdefault(id(outer), []).append(tool)
    return [_merged(t, inner.get(id(t), ())) for t in tops if id(t) not in served] if inner else tops


def _serves(client: Observation, server: Observation) -> bool:
    """A server's span whose context was lost on the way: same trace, tool and arguments, within the client's time."""
    if not client.span.start_ns <= server.span.start_ns <= client.span.end_ns:
        return False
    a, b = client.tool, server.tool
    if a is None or b is None or a.side == "server" or not _same_tool(a, b):
        return False
    return client.span.trace_id == server.span.trace_id and canonical(_args(a)) == canonical(_args(b))


def _outermost(tool: Observation, tree: Tree, known: set[int]) -> Observation | None:
    found = None
    for above in tree.ancestors(tool):
        if above.kind == "agent":
            break
        if above.kind == "tool" and id(above) in known and _same_tool(above.tool, tool.tool):
            found = above
    return found


def _same_tool(a: ToolUse | None, b: ToolUse | None) -> bool:
    """Two records of one execution: the same name, give or take a prefix, and no fact that tells them apart."""
    if a is None or b is None or (a.call_id and b.call_id and a.call_id != b.call_id):
        return False
    if isinstance(a.args, dict) and isinstance(b.args, dict) and canonical(a.args) != canonical(b.args):
        return False
    return name_fits(a.name, b.name) or name_fits(b.name, a.name)


def _merged(outer: Observation, inner: Sequence[Observation]) -> Observation:
    use = outer.tool
    if use is None or not inner:
        return outer
    for item in inner:
        other = item.tool
        if other is None:
            continue
        use = replace(
            use,
            args=other.args if use.args is None or isinstance(use.args, Unknown) else use.args,
            call_id=use.call_id or other.call_id,
            result=other.result if isinstance(use.result, Unknown) else use.result,
            ok=False if False in (use.ok, other.ok) else (other.ok if use.ok is None else use.ok),
            error_type=use.error_type or other.error_type,
            error_text=use.error_text or other.error_text,
            server=use.server or other.server,
        )
    return replace(outer, tool=use)


def reconcile(calls: list[Call], tools: Sequence[Observation], turns: Sequence[Turn]) -> list[Call]:
    """Ties executions to emitted calls; what is left of the executions becomes calls that were executed only.

    `calls` are as `emitted` gave them.
    """
    left = _tied_by_id(calls, tools, turns)
    if not left:
        return calls
    for tool in _tied_by_name(calls, left, turns):
        if tool.tool is not None and not tool.tool.tentative:
            turn = _turn_of(tool, turns)
            calls.append(Call(turn, len(calls), tool.tool.name, tool.dialect, None, tool.tool, tool))
    calls.sort(key=_call_order)
    return calls


def _call_order(call: Call) -> tuple[int, bool, tuple[int, str, str], int]:
    """By turn; emitted calls by position in the model's message, then the others by start (design section 4)."""
    started = order(call.span) if call.part is None and call.span else (0, "", "")
    return (call.turn, call.part is None, started, call.position)


def _tied_by_id(calls: Sequence[Call], tools: Sequence[Observation], turns: Sequence[Turn]) -> list[Observation]:
    """The surest tie, by call id; gives the tool spans that are left."""
    by_id: dict[str, list[Call]] = {}
    for call in calls:
        if call.part is not None and call.part.call_id:
            by_id.setdefault(call.part.call_id, []).append(call)
    left: list[Observation] = []
    for tool in tools:
        if tool.tool is not None:
            fitting = [c for c in by_id.get(tool.tool.call_id or "", ()) if not c.taken]
            if not _take(tool, fitting, turns):
                left.append(tool)
    return left


def _tied_by_name(calls: Sequence[Call], tools: Sequence[Observation], turns: Sequence[Turn]) -> list[Observation]:
    """The ties of what has no id in common, from the surest to the least sure; gives the tool spans that are left."""
    ids = {c.part.call_id for c in calls if c.part and c.part.call_id}
    waiting = _Open([c for c in calls if c.part is not None and not c.taken])
    left = list(tools)
    for fitting in (waiting.by_args, waiting.by_name, waiting.by_name_only):
        left = [t for t in left if not _take(t, [] if _known(t, ids) else fitting(t), turns)]
    return left


def _known(tool: Observation, ids: Container[str]) -> bool:
    return tool.tool is None or (bool(tool.tool.call_id) and tool.tool.call_id in ids)


class _Open:
    """Emitted calls that wait for an execution, looked up by what an execution tells of itself."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._by_name: dict[str, list[Call]] = {}
        self._by_args: dict[str, list[Call]] = {}
        self._fitting: dict[str, list[Call]] = {}
        for call in calls:
            self._by_name.setdefault(call.name, []).append(call)
            if (args := _args(call.part)) is not None:
                self._by_args.setdefault(canonical(args), []).append(call)

    def by_args(self, tool: Observation) -> list[Call]:
        args = _args(tool.tool)
        found = () if args is None else self._by_args.get(canonical(args), ())
        return [c for c in found if not c.taken and tool.tool is not None and name_fits(c.name, tool.tool.name)]

    def by_name(self, tool: Observation) -> list[Call]:
        known = _args(tool.tool) is not None
        return [c for c in self.by_name_only(tool) if not known or _args(c.part) is None]

    def by_name_only(self, tool: Observation) -> list[Call]:
        """Whatever their arguments, which may have been changed on the way to the tool."""
        name = tool.tool.name if tool.tool is not None else ""
        found = self._fitting.get(name)
        if found is None:
            found = [c for emitted_name, named in self._by_name.items() if name_fits(emitted_name, name) for c in named]
            found.sort(key=lambda c: c.position)
            self._fitting[name] = found
        return [c for c in found if not c.taken]


def _args(told: CallPart | ToolUse | None) -> dict[str, Any] | None:
    """The arguments where they are known."""
    return None if told is None or isinstance(told.args, Unknown) else told.args


def name_fits(emitted_name: str, executed_name: str) -> bool:
    """Equal, or the model knew the tool under a client's prefix."""
    if emitted_name == executed_name:
        return True
    return emitted_name.endswith(tuple(sep + executed_name for sep in ("_", ".", "/", "-", ":")))


def _take(tool: Observation, fitting: Sequence[Call], turns: Sequence[Turn]) -> bool:
    """Ties a tool span to the fitting call of the latest turn that began before it, the earliest such call first."""
    if not fitting:
        return False
    call = fitting[0]
    if len(fitting) > 1:
        now = tool.span.order_ns
        before = [c.turn for c in fitting if turns[c.turn - 1].start_ns <= now]
        turn = max(before) if before else min([c.turn for c in fitting])
        call = next(c for c in fitting if c.turn == turn)
    call.taken, call.use, call.span = True, tool.tool, tool
    return True


def _turn_of(tool: Observation, turns: Sequence[Turn]) -> int:
    """The latest turn that began before it, else the first; turns are in order of their begin."""
    return max(1, bisect_right(turns, tool.span.order_ns, key=lambda t: t.start_ns))
