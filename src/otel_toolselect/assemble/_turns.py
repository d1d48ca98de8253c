"""Model observations of a run, as turns: one per answer of the model, however many spans recorded it.

The same generation is recorded several times when instrumentations nest (a framework's span around a client's span) or
stand side by side (see `_same`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_toolselect.assemble._same import Same, join_by_response, join_streamed
from otel_toolselect.assemble._tree import Tree, order
from otel_toolselect.model.observations import Message, Observation
from otel_toolselect.model.quick import quick
from otel_toolselect.model.runs import ToolDefinition, Unknown


@quick
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


def clusters(models: Sequence[Observation], tree: Tree) -> list[list[Observation]]:
    """Model spans, which come in order, those of one generation together."""
    same = Same(tree)
    for m in models:
        around = _around(m, tree)
        if around is not None:
            same.join(m, around)
    join_by_response(models, same)
    join_streamed(models, same)
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
