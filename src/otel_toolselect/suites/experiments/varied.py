"""A catalog as an experiment varies it, for one case at a time.

In this order: another catalog; other descriptions; distractors until there are `size` tools; another order; and of all
that, the `keep` tools that a retriever ranks first for the prompt. Distractors are drawn once by `SEED`, so that every
case gets the same and a larger size holds the smaller. A model may prefer what stands first: a catalog that grew is
therefore shuffled for each case anew, so that over the cases no tool is favoured; `order` is one order for all cases,
as an agent would be given it. What a retriever chose stands in its order, the best first; equal scores keep the
catalog's order.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol, cast

from otel_toolselect import registry
from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.experiments.files import Setting
from otel_toolselect.suites.runner.catalogs import Offer, PinnedCatalog
from otel_toolselect.suites.runner.plan import Attempt

PACKAGE = "otel_toolselect.suites.experiments.retrieval"
SEED = 0


class Retriever(Protocol):
    """A way to choose tools for a prompt (`retrieval/`)."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...

    def scores(self, prompt: str, tools: Sequence[ToolDefinition]) -> list[float]:
        """One number per tool, the higher the better. Pure."""
        ...


@cache
def retrievers() -> Mapping[str, Retriever]:
    return cast("Mapping[str, Retriever]", registry.discover(PACKAGE))


class VariedCatalog:
    """`Catalog` of `runner.target`. Raises UsageError for what cannot be offered."""

    def __init__(self, base: Offer, setting: Setting, aliases: tuple[tuple[str, str], ...] = ()) -> None:
        self._setting = setting
        self._distractors = setting.distractors
        self._pinned = PinnedCatalog((setting.catalog or base, base), aliases)
        if setting.catalog is not None:
            self._pinned = PinnedCatalog((setting.catalog,), aliases)

    def offered(self, attempt: Attempt) -> tuple[ToolDefinition, ...]:
        setting = self._setting
        tools = [_described(tool, setting.descriptions) for tool in self._pinned.offered(attempt)]
        if setting.size is not None:
            tools = self._grown(tools, setting.size, attempt)
        if setting.order is not None:
            random.Random(setting.order).shuffle(tools)  # noqa: S311  an order, no secret
        elif setting.size is not None:
            random.Random(f"{SEED} {attempt.case.id}").shuffle(tools)  # noqa: S311
        if setting.retrieve is not None and setting.keep is not None:
            tools = _kept(setting.retrieve, setting.keep, attempt.prompt, tools)
        return tuple(tools)

    def _grown(self, tools: list[ToolDefinition], size: int, attempt: Attempt) -> list[ToolDefinition]:
        if size < len(tools):
            raise UsageError(f"size {size}: the case {attempt.case.id} is offered {len(tools)} tools of its own")
        names = {tool.name for tool in tools}
        others = [tool for tool in self._distractors if tool.name not in names]
        random.Random(SEED).shuffle(others)  # noqa: S311  a draw, no secret
        missing = size - len(tools)
        if missing > len(others):
            raise UsageError(
                f"size {size}: the case {attempt.case.id} needs {missing} distractors, and there are {len(others)}"
            )
        return tools + others[:missing]


def _described(tool: ToolDefinition, descriptions: Mapping[str, str]) -> ToolDefinition:
    return replace(tool, description=descriptions[tool.name]) if tool.name in descriptions else tool


def _kept(by: str, keep: int, prompt: str, tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    scores = retrievers()[by].scores(prompt, tools)
    ranked = sorted(range(len(tools)), key=lambda i: (-scores[i], i))
    return [tools[i] for i in ranked[:keep]]
