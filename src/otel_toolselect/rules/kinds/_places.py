"""`TOOL`, `TOOL.ARGUMENT`, `TOOL.ARGUMENT.MEMBER`: places of values in calls, for `grounded` and `stale`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.selectors import Tool
from otel_toolselect.rules.sources import Source, leaves
from otel_toolselect.rules.view import CallView, RunView

MAX_VALUES = 1_000  # of one place in one call: each is looked up in everything that was said and returned


@dataclass(frozen=True, slots=True)
class Place:
    """`path` () means every argument."""

    tool: str
    path: tuple[str, ...]

    def values(self, args: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """(argument, scalar) at this place, the first `MAX_VALUES` of them; lists are looked into."""
        return islice(self._values(args), MAX_VALUES)

    def _values(self, args: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        if not self.path:
            for name, given in args.items():
                yield from ((name, leaf) for _, leaf in leaves(given))
            return
        value: Any = args
        for name in self.path:
            if not isinstance(value, dict) or name not in value:
                return
            value = value[name]
        yield from ((".".join(self.path), leaf) for _, leaf in leaves(value))


def parse_places(node: Node, what: str, draft: Draft) -> tuple[Place, ...]:
    found: list[Place] = []
    for text, item in draft.problems.texts(node, what):
        place = _place(text, item, draft)
        if place is None:
            continue
        if place in found:
            draft.problems.add(item, f"{clip(text)!r} stands twice in {what}")
        found.append(place)
        draft.wants(Tool(place.tool), may_start=False)
    return tuple(found)


def _place(text: str, node: Node, draft: Draft) -> Place | None:
    """The longest known tool name wins, for names of tools have dots too; without a policy the first dot ends it."""
    parts = text.split(".")
    known = {*draft.policy.tools, *draft.policy.aliases, *(draft.pinned or ())}
    cut = next((i for i in range(len(parts), 0, -1) if ".".join(parts[:i]) in known), 1)
    tool = draft.tool(".".join(parts[:cut]), node)
    if tool is None:
        return None
    if not all(parts):
        draft.problems.add(node, f"{clip(text)!r} names no place", "write TOOL or TOOL.ARGUMENT")
        return None
    return Place(tool, tuple(parts[cut:]))


def places_of(places: Sequence[Place], call: CallView) -> list[Place]:
    return [p for p in places if p.tool == call.name]


def earlier_results(view: RunView, call: CallView) -> tuple[Source, str | None]:
    """What earlier results hold, and why some of it is not known (None: all of it is)."""
    results = [c.result for c in view.calls if c.result is not None and call.knew(c)]
    key = ("earlier results", tuple(r.seq for r in results))
    known: tuple[Source, str | None] | None = view.course.memo.get(key)
    if known is None:
        values = [r.value for r in results if not isinstance(r.value, Unknown)]
        why = next((r.value.reason for r in results if isinstance(r.value, Unknown)), None)
        known = view.course.memo[key] = (Source.of_values(values), why)
    return known
