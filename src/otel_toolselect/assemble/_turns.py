"""Model observations of a run, as turns: one per answer of the model, however many spans recorded it.

The same generation is recorded several times when instrumentations nest (a framework's span around a client's span) or
stand side by side (see `_same`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_toolselect.assemble._same import Same, join_by_response, join_streamed
from otel_toolselect.assemble._tree import Tree, order
from otel_toolselect.model.observations import CallPart, Message, Observation, ResultPart, TextPart
from otel_toolselect.model.quick import maker, quick
from otel_toolselect.model.runs import ToolDefinition, Unknown


@quick
@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model. `index` counts from 1 within the run, `text` is what the model said, `calls` what it
    asked for; `told` is the observation that stands for all records of it.
    """

    index: int
    start_ns: int
    text: str
    calls: Sequence[CallPart]
    told: Observation


_make_turn = maker(Turn)


def clusters(models: Sequence[Observation], tree: Tree) -> list[list[Observation]]:
    """Model spans, which come in order, those of one generation together; each by its first, and they in order."""
    same = Same(tree)
    for m in models:
        above = tree.acting_above(m)
        if above is not None and above.kind == "model":  # no tool and no agent lies between them
            same.join(m, above)
    join_by_response(models, same)
    join_streamed(models, same)
    if not same.any:
        return [[m] for m in models]
    found: dict[int, list[Observation]] = {}
    for m in models:
        found.setdefault(same.head(m), []).append(m)
    return list(found.values())


def turns(generations: Sequence[Sequence[Observation]]) -> list[Turn]:
    """Turns, counted from 1, of generations that come in order."""
    return [_turn(i, c[0], c[0] if len(c) == 1 else _one(c)) for i, c in enumerate(generations, start=1)]


def _turn(index: int, first: Observation, told: Observation) -> Turn:
    texts: list[str] = []
    calls: list[CallPart] = []
    for m in told.output or ():
        if m.role == "assistant":
            for part in m.parts:
                if isinstance(part, CallPart):
                    calls.append(part)
                elif isinstance(part, TextPart) and part.text:
                    texts.append(part.text)
    return _make_turn(index, first.span.order_ns, "\n".join(texts), calls, told)


def user_text(m: Message) -> str:
    """What the user says in a message; nothing in one that brings results of tools."""
    texts: list[str] = []
    for part in m.parts if m.role == "user" else ():
        if isinstance(part, ResultPart):
            return ""
        if isinstance(part, TextPart) and part.text:
            texts.append(part.text)
    return "\n".join(texts)


def _one(cluster: Sequence[Observation]) -> Observation:
    """What the records of one generation say together: the one that tells most, its gaps filled by the others."""
    ranked = sorted(cluster, key=lambda o: (-_richness(o.output), -_richness(o.input), order(o)))
    inputs = sorted(cluster, key=lambda o: (-_richness(o.input), order(o)))
    return replace(
        ranked[0],
        input=next((o.input for o in inputs if o.input is not None), None),
        output=next((o.output for o in ranked if o.output is not None), None),
        system=next((o.system for o in inputs if o.system), None),
        tools=max((o.tools for o in ranked if o.tools), key=_catalog_richness, default=None),
        model=next((o.model for o in ranked if o.model), None),
        provider=next((o.provider for o in ranked if o.provider), None),
        input_tokens=next((o.input_tokens for o in ranked if o.input_tokens is not None), None),
        output_tokens=next((o.output_tokens for o in ranked if o.output_tokens is not None), None),
        cost_usd=next((o.cost_usd for o in ranked if o.cost_usd is not None), None),
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
