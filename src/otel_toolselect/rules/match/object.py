"""`{object: {NAME: VALUE}}`: a nested object, for one whose keys are called like matchers (`{object: {range: 5}}`)."""

from __future__ import annotations

from collections.abc import Mapping

from otel_toolselect.rules._nodes import Fields, Node, kind_of
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Nested, parse_expected


class _Kind:
    name = "object"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        if not isinstance(node, Fields):
            draft.problems.add(node, f"object must be a mapping, not {kind_of(node)}", "write {object: {NAME: VALUE}}")
            return None
        members = [parse_expected(k.text, v, draft) for k, v in node.entries]
        known = [m for m in members if m is not None]
        return Nested(tuple(known), frozenset(m.name for m in known)) if len(known) == len(members) else None


PLUGIN = _Kind()
