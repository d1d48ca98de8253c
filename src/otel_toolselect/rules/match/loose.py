"""`{loose: T}`: the same letters and digits, more or less: lower-cased, without spaces and `, . / - _ * ^`, and with
`'` as `"`.

Coarser than `text`: "New-York, N.Y." is "new york ny". A value that differs only in such signs (-5 and 5, 1.5 and 15)
is equal too, so it is for names and prose, not for numbers in quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher

_DROPPED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def loosened(text: str) -> str:
    return text.translate(_DROPPED).lower()


@dataclass(frozen=True, slots=True)
class Loose:
    wanted: str
    describe: str
    absent_ok: bool = False

    @staticmethod
    def of(text: str) -> Loose:
        return Loose(loosened(text), f"{brief(text)} (signs and case aside)")

    def mismatch(self, value: JSON, scope: object) -> str | None:
        if isinstance(value, str) and loosened(value) == self.wanted:
            return None
        return f"expected {self.describe}, got {brief(value)}"


class _Kind:
    name = "loose"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        text = draft.problems.text(node, "loose")
        return None if text is None else Loose.of(text)


PLUGIN = _Kind()
