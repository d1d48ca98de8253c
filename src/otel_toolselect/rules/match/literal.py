"""`{literal: VALUE}`: exactly this JSON value, whatever its keys are called. A bare value means the same."""

from __future__ import annotations

from collections.abc import Mapping

from otel_toolselect.rules._literal import Literal
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher


class _Kind:
    name = "literal"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        return Literal.of(node)


PLUGIN = _Kind()
