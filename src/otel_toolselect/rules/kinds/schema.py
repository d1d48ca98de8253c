"""Arguments against the offered tool's own schema (R25), arguments layer, always on, one finding per call.

For each call whose tool was right and whose JSON Schema the trace holds: every required argument is there, no
argument stands outside the schema, and each argument has a type that its property names. A property list closes the
object unless `additionalProperties` allows more (JSON Schema leaves it open by default; a model that invents a
parameter is what R25 is about). Deeper schema keywords are not looked at here. Unknown arguments are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import JSON, json_equal
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import judged, unknown
from otel_toolselect.rules.selectors import Selector, allows_call
from otel_toolselect.rules.view import CallView, RunView

NAME = "schema"


def _number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# "dict", "float", "tuple" and "any" are not JSON Schema, but catalogs in the wild have them
_TYPES: Mapping[str, Callable[[JSON], bool]] = {
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": _number,
    "float": _number,
    "integer": lambda v: _number(v) and (isinstance(v, int) or (isinstance(v, float) and v.is_integer())),
    "array": lambda v: isinstance(v, list),
    "tuple": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "dict": lambda v: isinstance(v, dict),
}


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    wanted: tuple[Selector, ...]
    forbidden: tuple[Selector, ...]
    name: str = NAME
    layer: Layer = "arguments"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if view.run.tools is None:
            return ()
        found = []
        for call in view.calls:
            schema = view.offered.get(call.name)
            if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
                continue
            if allows_call(self.wanted, call) and not allows_call(self.forbidden, call):
                found.append(_judge(call, schema))
        return found


def _judge(call: CallView, schema: Mapping[str, Any]) -> Finding:
    if isinstance(call.args, Unknown):
        return unknown(NAME, call, call.args)
    return judged(NAME, call, faults(call.args, schema), "fits its schema")


def faults(args: Mapping[str, Any], schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(argument, reason) for each fault, required ones first, in the schema's and the call's order."""
    properties: Mapping[str, Any] = schema["properties"]
    required = schema.get("required")
    found = [
        (name, "is required by the schema and missing")
        for name in (required if isinstance(required, list) else ())
        if isinstance(name, str) and name not in args
    ]
    is_open = schema.get("additionalProperties", False) is not False or "patternProperties" in schema
    for name, value in args.items():
        if name not in properties:
            if not is_open:
                found.append((name, "is not a parameter of the schema"))
            continue
        why = _wrong_type(value, properties[name])
        if why is not None:
            found.append((name, why))
    return found


def _wrong_type(value: JSON, schema: Any) -> str | None:
    if not isinstance(schema, dict):
        return None
    enum = schema.get("enum")
    if isinstance(enum, list) and enum and not any(json_equal(value, option) for option in enum):
        return f"is {brief(value)}, not one of {brief(enum)}"
    named = schema.get("type")
    types = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    if value is None and schema.get("nullable") is True:
        return None
    if not types or not all(isinstance(t, str) and t in _TYPES for t in types):
        return None
    if any(_TYPES[t](value) for t in types):
        return None
    return f"is {brief(value)}, not of type {' or '.join(types)}"


class _Kind:
    name = NAME
    implicit = True

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        raise NotImplementedError("schema has no setting")

    def finish(self, draft: Draft) -> Check | None:
        if not draft.profile.schema:
            return None
        wanted = tuple(dict.fromkeys([*draft.first, *draft.wanted]))
        return SchemaCheck(wanted, tuple(draft.forbidden)) if wanted else None


PLUGIN = _Kind()
