"""Model observations of a run, as turns: one per answer of the model, however many spans recorded it.

The same generation is recorded several times when instrumentations nest (a framework's span around a client's span) or
stand side by side; such spans share a response id and overlap in time, or one lies inside the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_toolselect.assemble._tree import Tree, order
from otel_toolselect.model.observations import Message, Observation
from otel_toolselect.model.runs import ToolDefinition, Unknown

_STREAM_NS = 600 * 10**9  # how long after its request's span a streamed answer may still be written


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model. `index` counts from 1 within the run, `text` is what the model said."""

    index: int
    start_ns: int
    input: tuple[Message, ...] | None
    output: tuple[Message, ...] | None
    text: str
    system: str | None
    tools: tuple[ToolDefinition, ...] | None
    model: str | None
    provider: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    dialect: str

    @property
    def calls(self) -> bool:
        """Whether the answer asks for tools."""
        return any(m.calls for m in self.output or ())


class _Same:
    """Union-find over model spans, told by identity."""

    def __init__(self) -> None:
        self._heads: dict[int, int] = {}

    def head(self, o: Observation) -> int:
        heads, key = self._heads, id(o)
        while key in heads:
            above = heads[key]
            if above in heads:  # the way is halved: a long chain is walked once
                heads[key] = heads[above]
            key = above
        return key

    def join(self, a: Observation, b: Observation) -> None:
        head, other = self.head(a), self.head(b)
        if head != other:
            self._heads[head] = other


def clusters(models: Sequence[Observation], tree: Tree) -> list[list[Observation]]:
    """Model spans, which come in order, those of one generation together."""
    same = _Same()
    for m in models:
        around = _around(m, tree)
        if around is not None:
            same.join(m, around)
    _join_by_response(models, same)
    _join_streamed(models, same)
    found: dict[int, list[Observation]] = {}
    for m in models:
        found.setdefault(same.head(m), []).append(m)
    return list(found.values())


def _around(m: Observation, tree: Tree) -> Observation | None:
    """The model span around a model span, unless a tool or an agent lies between them."""
    for above in tree.ancestors(m):
        if above.kind in ("tool", "agent"):
            return None
        if above.kind == "model":
            return above
    return None


def _join_by_response(ordered: Sequence[Observation], same: _Same) -> None:
    by_response: dict[str, list[Observation]] = {}
    for m in ordered:
        if m.response_id:
            by_response.setdefault(m.response_id, []).append(m)
    for named in by_response.values():
        if len(named) > 1:
            _join_overlapping(named, same)


def _join_overlapping(named: Sequence[Observation], same: _Same) -> None:
    """Spans of one response id, in order: whatever overlaps an earlier one overlaps the one that ends last so far."""
    if not all(m.span.start_ns for m in named):  # a span without a start stands where it ends: no such short cut
        for i, m in enumerate(named):
            other = next((o for o in named[:i] if _overlap(m, o)), None)
            if other is not None:
                same.join(m, other)
        return
    last = named[0]
    for m in named[1:]:
        if _overlap(m, last):
            same.join(m, last)
        if m.span.end_ns > max(last.span.end_ns, last.span.start_ns):
            last = m


def _join_streamed(ordered: Sequence[Observation], same: _Same) -> None:
    late = [m for m in ordered if m.output is not None and m.span.end_ns == m.span.start_ns and m.input]
    if not late:
        return
    waiting: dict[tuple[object, ...], list[Observation]] = {}
    for m in ordered:
        if m.output is None and m.input:
            waiting.setdefault(_look(m), []).append(m)
    for m in late:
        asked = next((o for o in waiting.get(_look(m), ()) if _streams_into(o, m)), None)
        if asked is not None:
            same.join(m, asked)


def _look(m: Observation) -> tuple[object, ...]:
    """What is the same of two spans with the same request, library and service, and can be looked up."""
    shown = m.input or ()
    return (m.span.scope_name, m.span.service, len(shown), *((i.role, len(i.parts)) for i in shown), shown[-1].text)


def _streams_into(asked: Observation, late: Observation) -> bool:
    """A streamed answer written as a span of no length of its own, by the same library: same request, no answer yet."""
    return (
        asked.span.start_ns <= late.span.start_ns <= asked.span.end_ns + _STREAM_NS
        and asked.input == late.input
        and (asked.span.scope_name, asked.span.service) == (late.span.scope_name, late.span.service)
    )


def _overlap(a: Observation, b: Observation) -> bool:
    return a.span.start_ns <= max(b.span.end_ns, b.span.start_ns) and b.span.start_ns <= max(
        a.span.end_ns, a.span.start_ns
    )


def turns(generations: Iterable[Sequence[Observation]]) -> list[Turn]:
    """Turns in order of time, counted from 1."""
    ordered = sorted(generations, key=lambda c: order(c[0]))
    return [_lone(i, c[0]) if len(c) == 1 else _turn(i, c) for i, c in enumerate(ordered, start=1)]


def _lone(index: int, o: Observation) -> Turn:
    return Turn(
        index=index,
        start_ns=o.span.order_ns,
        input=o.input,
        output=o.output,
        text=_said(o.output),
        system=o.system or None,
        tools=o.tools or None,
        model=o.model or None,
        provider=o.provider or None,
        input_tokens=o.input_tokens,
        output_tokens=o.output_tokens,
        cost_usd=o.cost_usd,
        dialect=o.dialect,
    )


def _said(output: tuple[Message, ...] | None) -> str:
    return "\n".join([text for m in output or () if m.role == "assistant" and (text := m.text)])


def _turn(index: int, cluster: Sequence[Observation]) -> Turn:
    ranked = sorted(cluster, key=lambda o: (-_richness(o.output), -_richness(o.input), order(o)))
    inputs = sorted(cluster, key=lambda o: (-_richness(o.input), order(o)))
    best = ranked[0]
    tools = max((o.tools for o in ranked if o.tools), key=_catalog_richness, default=None)
    output = next((o.output for o in ranked if o.output is not None), None)
    return Turn(
        index=index,
        start_ns=min(o.span.order_ns for o in cluster),
        input=next((o.input for o in inputs if o.input is not None), None),
        output=output,
        text=_said(output),
        system=next((o.system for o in inputs if o.system), None),
        tools=tools,
        model=next((o.model for o in ranked if o.model), None),
        provider=next((o.provider for o in ranked if o.provider), None),
        input_tokens=next((o.input_tokens for o in ranked if o.input_tokens is not None), None),
        output_tokens=next((o.output_tokens for o in ranked if o.output_tokens is not None), None),
        cost_usd=next((o.cost_usd for o in ranked if o.cost_usd is not None), None),
        dialect=best.dialect,
    )


def _richness(messages: tuple[Message, ...] | None) -> int:
    """How much a list of messages tells: known arguments count more than calls, calls more than texts."""
    if messages is None:
        return -1
    score = 0
    for m in messages:
        score += 1 + (1 if m.text else 0) + len(m.results)
        score += sum(2 if isinstance(c.args, Unknown) else 4 for c in m.calls)
    return score


def _catalog_richness(tools: tuple[ToolDefinition, ...]) -> tuple[int, int]:
    return (sum(t.schema is not None for t in tools), len(tools))
