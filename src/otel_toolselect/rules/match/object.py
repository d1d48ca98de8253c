"""`{object: {NAME: VALUE}}`: a nested object, for one whose keys are called like matchers (`{object: {range: 5}}`), or
with `open: true` for one that may have other members beside those listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Fields, Node, kind_of
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Expected, Matcher, Nested, Scope, parse_expected


@dataclass(frozen=True, slots=True)
class _Open:
    members: tuple[Expected, ...]
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if not isinstance(value, dict):
            return f"expected {self.describe}, got {brief(value)}"
        found = ((m.name, m.mismatch(value, scope)) for m in self.members)
        return next((f"{name}: {why}" for name, why in found if why is not None), None)


class _Kind:
    name = "object"
    options = frozenset({"open"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        if not isinstance(node, Fields):
            draft.problems.add(node, f"object must be a mapping, not {kind_of(node)}", "write {object: {NAME: VALUE}}")
            return None
        is_open = draft.problems.boolean(options["open"], "open") if "open" in options else False
        members = [parse_expected(k.text, v, draft) for k, v in node.entries]
        known = tuple(m for m in members if m is not None)
        if len(known) < len(members) or is_open is None:
            return None
        if is_open:
            return _Open(known, "an object with " + ", ".join(m.name for m in known))
        return Nested(known, frozenset(m.name for m in known))


PLUGIN = _Kind()
