"""Arguments against the offered tool's own schema (R25), arguments layer, always on, one finding per call.

For each call whose tool was right and whose JSON Schema the trace holds: every required argument is there, no
argument stands outside the schema, and each argument is what its property says: type, `enum`, and whatever JSON Schema
says of it below (members, items, lengths, limits; by jsonschema-rs, patterns by a linear engine). A property list
closes the object unless `additionalProperties` allows more (JSON Schema leaves it open by default; a model that invents
a parameter is what R25 is about). Catalogs in the wild use type words that are not JSON Schema ("dict", "float"): those
are understood at the top, and a property whose schema is not valid is judged by its type alone. `$ref` reaches the
tool's own `$defs` only. Unknown arguments are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import JSON, json_equal
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import clip
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import judged, unknown
from otel_toolselect.rules.selectors import CallSet, Selector
from otel_toolselect.rules.view import CallView, RunView

NAME = "schema"
_COMPILED = 4_096  # schemas kept compiled; runs of one agent share theirs
_VALIDATORS = 8_192  # and those below them, of 2 to 20 KiB each: catalogs may be another for every run
_SHALLOW = frozenset({"type", "enum", "description", "title", "default", "examples", "nullable"})
_OPTIONS: Any = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)


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
    right: CallSet = field(compare=False, repr=False)
    wrong: CallSet = field(compare=False, repr=False)
    name: str = NAME
    layer: Layer = "arguments"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if view.run.tools is None:
            return ()
        found = []
        for call in view.calls:
            schema = view.offered.get(call.name)
            if schema is not None and self.right.holds(call) and not self.wrong.holds(call):
                compiled = compiled_schema(schema)
                if compiled is not None:
                    found.append(_judge(call, compiled))
        return found


def _judge(call: CallView, schema: Compiled) -> Finding:
    if isinstance(call.args, Unknown):
        return unknown(NAME, call, call.args)
    return judged(NAME, call, schema.faults(call.args), "fits its schema")


class Compiled:
    """A tool's schema, worked out once."""

    __slots__ = ("is_open", "members", "required")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        required = schema.get("required")
        listed = required if isinstance(required, list) else ()
        self.required = tuple(name for name in listed if isinstance(name, str))
        self.is_open = schema.get("additionalProperties", False) is not False or "patternProperties" in schema
        shared = {k: schema[k] for k in ("$defs", "definitions") if k in schema}
        self.members = {name: _Member(member, shared) for name, member in schema["properties"].items()}

    @property
    def validators(self) -> int:
        return sum(member.deep is not None for member in self.members.values())

    def faults(self, args: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(argument, reason) for each fault, required ones first, in the schema's and the call's order."""
        found = [(n, "is required by the schema and missing") for n in self.required if n not in args]
        for name, value in args.items():
            member = self.members.get(name)
            if member is None:
                if not self.is_open:
                    found.append((name, "is not a parameter of the schema"))
                continue
            why = member.wrong(value)
            if why is not None:
                found.append((name, why))
        return found


class _Member:
    """One property. `deep` validates what is more than a type and a list of values."""

    __slots__ = ("deep", "enum", "kinds", "nullable", "types")

    def __init__(self, schema: Any, shared: Mapping[str, Any]) -> None:
        known = schema if isinstance(schema, dict) else {}
        enum, named = known.get("enum"), known.get("type")
        types = [named] if isinstance(named, str) else named if isinstance(named, list) else []
        self.enum = enum if isinstance(enum, list) and enum else None
        self.types = types if all(isinstance(t, str) and t in _TYPES for t in types) else []
        self.kinds = tuple(_TYPES[t] for t in self.types)
        self.nullable = known.get("nullable") is True
        self.deep = None if _SHALLOW.issuperset(known) else _validator(known, shared)

    def wrong(self, value: JSON) -> str | None:
        if self.enum is not None and not any(json_equal(value, option) for option in self.enum):
            return f"is {brief(value)}, not one of {brief(self.enum)}"
        if value is None and self.nullable:
            return None
        for kind in self.kinds:
            if kind(value):
                break
        else:
            if self.kinds:
                return f"is {brief(value)}, not of type {' or '.join(self.types)}"
        return None if self.deep is None else _deeply(self.deep, value)


def _validator(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Any:
    """None for a schema that is not valid, or needs more than is at hand: nothing is fetched."""
    try:
        whole = {**shared, **schema}
        return jsonschema_rs.validator_for(whole, validate_formats=False, pattern_options=_OPTIONS, retriever=_nothing)
    except Exception:  # noqa: BLE001 - other people's catalogs fail in any way; the type is judged all the same
        return None


def _nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")


def _deeply(validator: Any, value: JSON) -> str | None:
    try:
        if validator.is_valid(value):
            return None
        error = next(iter(validator.iter_errors(value)), None)
    except (ValueError, OverflowError):
        return None  # a value that the library cannot take is no fault of the call
    if error is None:
        return None
    where = ".".join(str(part) for part in error.instance_path)
    return f"does not fit its schema{f' at {where}' if where else ''}: {clip(str(error.message), 160)}"


class _Known(dict[int, tuple[Any, "Compiled | None"]]):
    """By the identity of a schema, which is kept beside."""

    validators = 0

    def keep(self, schema: Any, compiled: Compiled | None) -> None:
        size = 0 if compiled is None else compiled.validators
        if size > _VALIDATORS >> 3:  # one giant must not drive out all others
            return
        if len(self) >= _COMPILED or self.validators + size > _VALIDATORS:
            self.clear()
            self.validators = 0
        self[id(schema)] = schema, compiled
        self.validators += size


_known = _Known()


def compiled_schema(schema: Any) -> Compiled | None:
    """The compiled schema, None for one without properties."""
    found = _known.get(id(schema))
    if found is not None:
        return found[1]
    usable = isinstance(schema, dict) and isinstance(schema.get("properties"), dict)
    compiled = Compiled(schema) if usable else None
    _known.keep(schema, compiled)
    return compiled


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        if not draft.profile.schema:
            return None
        wanted, forbidden = tuple(dict.fromkeys([*draft.first, *draft.wanted])), tuple(draft.forbidden)
        return SchemaCheck(wanted, forbidden, CallSet(wanted), CallSet(forbidden)) if wanted else None


PLUGIN = _Kind()
