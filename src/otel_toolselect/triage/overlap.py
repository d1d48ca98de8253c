"""Which tools of a catalog can be mistaken for each other: by their words, and by what was observed (R46, R52).

- name: rapidfuzz token_sort_ratio of the names cut into words (`find_orders`, `findOrders` are "find orders"), 0..100.
- description: token_sort_ratio of the descriptions in lower case, 0..100; None when either has none.
- observed: runs in which one of the two was wanted and the other taken, both directions.

Two tools are suspicious when the descriptions reach 70, or the names 85, or the names 60 and the descriptions 55, or
when they were confused at least once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.model.verdicts import Cell

DESCRIPTION, NAME, NAME_WITH, DESCRIPTION_WITH = 70.0, 85.0, 60.0, 55.0
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Overlap:
    """`there`: wanted a, got b; `back`: wanted b, got a."""

    a: ToolDefinition
    b: ToolDefinition
    name: float
    description: float | None
    there: int = 0
    back: int = 0

    @property
    def lexical(self) -> bool:
        described = self.description or 0.0
        near = self.name >= NAME_WITH and described >= DESCRIPTION_WITH
        return described >= DESCRIPTION or self.name >= NAME or near

    @property
    def observed(self) -> int:
        return self.there + self.back


def words(name: str) -> str:
    return " ".join(_WORDS.findall(name)).lower()


def overlap(a: ToolDefinition, b: ToolDefinition, confused: Mapping[Cell, int] | None = None) -> Overlap:
    described = None
    if a.description and b.description:
        described = round(fuzz.token_sort_ratio(a.description, b.description, processor=default_process), 1)
    seen = confused or {}
    return Overlap(
        a=a,
        b=b,
        name=round(fuzz.token_sort_ratio(words(a.name), words(b.name)), 1),
        description=described,
        there=seen.get(Cell(a.name, b.name), 0),
        back=seen.get(Cell(b.name, a.name), 0),
    )


def suspicious(tools: Sequence[ToolDefinition], confused: Mapping[Cell, int]) -> Iterator[Overlap]:
    """Pairs in order of name."""
    for a, b in combinations(sorted(tools, key=lambda t: t.name), 2):
        found = overlap(a, b, confused)
        if found.lexical or found.observed:
            yield found
