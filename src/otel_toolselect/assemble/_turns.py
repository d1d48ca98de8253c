"""Model observations of a run, as turns: one per answer of the model, however many spans recorded it.

The same generation is recorded several times when instrumentations nest (a framework's span around a client's span) or
stand side by side; such spans share a response id and overlap in time, or one lies inside the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_toolselect.assemble._tree import Tree, ident, order
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


def clusters(models: Sequence[Observation], tree: Tree) -> list[list[Observation]]:
    """Model spans, those of one generation together."""
    heads = {ident(m): ident(m) for m in models}

    def find(key: tuple[str, str]) -> tuple[str, str]:
        while heads[key] != key:
            key = heads[key]
        return key

    for m in models:
        for above in tree.ancestors(m):
            if above.kind in ("tool", "agent"):
                break
            if ident(above) in heads:
                heads[find(ident(m))] = find(ident(above))
                break
    by_response: dict[str, list[Observation]] = {}
    for m in sorted(models, key=order):
        for other in by_response.get(m.response_id or "", ()) if m.response_id else ():
            if _overlap(m, other):
                heads[find(ident(m))] = find(ident(other))
                break
        if m.response_id:
            by_response.setdefault(m.response_id, []).append(m)
    for late in [m for m in models if m.output is not None and m.span.end_ns == m.span.start_ns and m.input]:
        asked = next((m for m in models if _streams_into(m, late)), None)
        if asked is not None:
            heads[find(ident(late))] = find(ident(asked))
    found: dict[tuple[str, str], list[Observation]] = {}
    for m in sorted(models, key=order):
        found.setdefault(find(ident(m)), []).append(m)
    return list(found.values())


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
