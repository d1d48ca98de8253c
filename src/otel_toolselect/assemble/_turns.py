"""Model observations of a run, as turns: one per answer of the model, however many spans recorded it.

The same generation is recorded several times when instrumentations nest (a framework's span around a client's span) or
stand side by side; such spans share a response id and overlap in time, or one lies inside the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_toolselect.assemble._tree import Key, Tree, ident, order
from otel_toolselect.model.observations import Message, Observation
from otel_toolselect.model.runs import ToolDefinition, Unknown

_STREAM_NS = 600 * 10**9  # how long after its request's span a streamed answer may still be written


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model. `index` counts from 1 within the run."""

    index: int
    start_ns: int
    spans: tuple[Observation, ...]
    input: tuple[Message, ...] | None
    output: tuple[Message, ...] | None
    system: str | None
    tools: tuple[ToolDefinition, ...] | None
    model: str | None
    provider: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    dialect: str

    @property
    def text(self) -> str:
        return "\n".join(m.text for m in self.output or () if m.role == "assistant" and m.text)


class _Same:
    """Union-find over model spans."""

    def __init__(self, models: Iterable[Observation]) -> None:
        self._heads = {ident(m): ident(m) for m in models}

    def __contains__(self, key: Key) -> bool:
        return key in self._heads

    def head(self, key: Key) -> Key:
        while self._heads[key] != key:
            key = self._heads[key]
        return key

    def join(self, a: Observation, b: Observation) -> None:
        self._heads[self.head(ident(a))] = self.head(ident(b))


def clusters(models: Sequence[Observation], tree: Tree) -> list[list[Observation]]:
    """Model spans, those of one generation together."""
    ordered = sorted(models, key=order)
    same = _Same(ordered)
    for m in ordered:
        around = _around(m, tree, same)
        if around is not None:
            same.join(m, around)
    _join_by_response(ordered, same)
    for late in (m for m in ordered if m.output is not None and m.span.end_ns == m.span.start_ns and m.input):
        asked = next((m for m in ordered if _streams_into(m, late)), None)
        if asked is not None:
            same.join(late, asked)
    found: dict[Key, list[Observation]] = {}
    for m in ordered:
        found.setdefault(same.head(ident(m)), []).append(m)
    return list(found.values())


def _around(m: Observation, tree: Tree, same: _Same) -> Observation | None:
    """The model span around a model span, unless a tool or an agent lies between them."""
    for above in tree.ancestors(m):
        if above.kind in ("tool", "agent"):
            return None
        if ident(above) in same:
            return above
    return None


def _join_by_response(ordered: Sequence[Observation], same: _Same) -> None:
    seen: dict[str, list[Observation]] = {}
    for m in ordered:
        if not m.response_id:
            continue
        other = next((o for o in seen.get(m.response_id, ()) if _overlap(m, o)), None)
        if other is not None:
            same.join(m, other)
        seen.setdefault(m.response_id, []).append(m)


def _streams_into(asked: Observation, late: Observation) -> bool:
    """A streamed answer written as a span of no length of its own, by the same library: same request, no answer yet."""
    return (
        asked is not late
        and asked.output is None
        and asked.input == late.input
        and (asked.span.scope_name, asked.span.service) == (late.span.scope_name, late.span.service)
        and asked.span.start_ns <= late.span.start_ns <= asked.span.end_ns + _STREAM_NS
    )


def _overlap(a: Observation, b: Observation) -> bool:
    return a.span.start_ns <= max(b.span.end_ns, b.span.start_ns) and b.span.start_ns <= max(
        a.span.end_ns, a.span.start_ns
    )


def turns(generations: Iterable[Sequence[Observation]]) -> list[Turn]:
    """Turns in order of time, counted from 1."""
    ordered = sorted(generations, key=lambda c: order(c[0]))
    return [_turn(i, cluster) for i, cluster in enumerate(ordered, start=1)]


def _turn(index: int, cluster: Sequence[Observation]) -> Turn:
    ranked = sorted(cluster, key=lambda o: (-_richness(o.output), -_richness(o.input), order(o)))
    inputs = sorted(cluster, key=lambda o: (-_richness(o.input), order(o)))
    best = ranked[0]
    tools = max((o.tools for o in ranked if o.tools), key=_catalog_richness, default=None)
    return Turn(
        index=index,
        start_ns=min(o.span.order_ns for o in cluster),
        spans=tuple(cluster),
        input=next((o.input for o in inputs if o.input is not None), None),
        output=next((o.output for o in ranked if o.output is not None), None),
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
