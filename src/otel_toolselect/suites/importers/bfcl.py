"""`bfcl`: cases of the Berkeley function-calling leaderboard (simple, multiple, parallel, relevance), one a line.

A case line has `id`, `prompt`, `tools_offered`, `tool_definitions`, `tool_aliases` (name -> the spelling that models
without dots are shown) and `expected_calls`: `[{tool, args: {NAME: {type, item_type, any_of, optional,
required_by_schema}}}]`; a case without expected calls is a relevance case, where any outcome but a call is right.
The leaderboard's own form (`function` beside `ground_truth: [{TOOL: {NAME: [VALUES]}}]`) is read too.

The checker's rules become matchers under `matching: bfcl` (strict integers, loose strings, any order, exact count, no
other argument), so what is left to decide here is per argument:

- a value whose type is not the declared one but that of the first acceptable value is "a variable": compared exactly;
- a declared float takes integers; numbers inside objects, tuples of a second level and optional lists are compared as
  numbers, without types, as the checker does;
- strings are loose at the first level of a list and as members of objects, exact below;
- `optional` also accepts the empty string (for a list the empty list) if given, and never excuses an argument that the
  schema requires;
- an argument outside the schema may not be given; if it is needed as well, no call can be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported, exactly, is_plain
from otel_toolselect.suites.importers._records import NO_CALL, Names, base, names, objects
from otel_toolselect.suites.importing import Source

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("string", "any", "char"), str),
    "integer": int,
    **dict.fromkeys(("float", "number", "double"), float),
    "boolean": bool,
    **dict.fromkeys(("array", "tuple", "list"), list),
    **dict.fromkeys(("dict", "object"), dict),
}
_NEVER = {"one_of": [{"absent": True}]}  # absent is not enough, and no value will do
_EXACT_FLOAT = 2**53


class _Bfcl:
    name = "bfcl"
    about = "Berkeley function-calling leaderboard: case lines with acceptable values"

    def read(self, source: Source) -> Imported:
        found = Imported(source.stem, [], matching="bfcl")
        tools = Names()
        for place, record in source.records():
            if isinstance(record.get("dataset"), str):
                found.suite = record["dataset"]
            case = base(record, place)
            calls = _calls(record, place)
            aliases = record.get("tool_aliases")
            tools.add([*names(record, "tools_offered"), *(c["tool"] for c in calls)], aliases)
            if calls:
                case["expect"] = {"class": "required", "reference": {"calls": calls}}
            else:
                case["expect"] = {"first": list(NO_CALL)}
            found.cases.append(case)
        found.policy = tools.policy()
        return found


def _calls(record: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    schemas = {d["name"]: d.get("parameters") for d in _definitions(record, place)}
    expected = objects(record, "expected_calls", place) or _ground_truth(record, place)
    found = []
    for call in expected:
        tool, args = call.get("tool"), call.get("args", {})
        if not isinstance(tool, str) or not tool or not isinstance(args, dict):
            raise InputError("an expected call needs a tool and args", where=place)
        schema = schemas.get(tool)
        known = schema if isinstance(schema, dict) else {}
        compiled = {name: _argument(spec, place) for name, spec in args.items()}
        required = known.get("required")
        for name in required if isinstance(required, list) else []:
            compiled.setdefault(name, dict(_NEVER))
        found.append({"tool": tool, "args": compiled})
    return found


def _definitions(record: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    found = objects(record, "tool_definitions", place) or objects(record, "function", place)
    return [d for d in found if isinstance(d.get("name"), str)]


def _ground_truth(record: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """The leaderboard's form, brought into that of `expected_calls` with the types of the schema."""
    schemas = {d["name"]: d.get("parameters") for d in _definitions(record, place)}
    found: list[dict[str, Any]] = []
    for entry in objects(record, "ground_truth", place):
        for tool, args in entry.items():
            schema = schemas.get(tool)
            known = schema if isinstance(schema, dict) else {}
            listed = args if isinstance(args, dict) else {}
            found.append({"tool": tool, "args": {n: _described(n, v, known) for n, v in listed.items()}})
    return found


def _described(name: str, values: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    details = properties.get(name) if isinstance(properties, dict) else None
    known = details if isinstance(details, dict) else {}
    items = known.get("items")
    accepted = values if isinstance(values, list) else [values]
    return {
        "type": known.get("type"),
        "item_type": items.get("type") if isinstance(items, dict) else None,
        "any_of": [v for v in accepted if v != ""],
        "optional": "" in accepted,
        "required_by_schema": name in (schema.get("required") or ()),
    }


def _argument(spec: Any, place: str) -> Any:
    """The expected value of one argument."""
    if not isinstance(spec, dict) or not isinstance(spec.get("any_of"), list):
        raise InputError("an expected argument needs type and any_of", where=place)
    may_lack = spec.get("optional") is True and spec.get("required_by_schema") is not True
    kind = _KINDS.get(str(spec.get("type")))
    options = _options(spec, kind) if kind is not None else []
    if not options:
        return {"absent": True} if may_lack else dict(_NEVER)
    if len(options) == 1 and not may_lack:
        return options[0]
    return {"one_of": options, "optional": True} if may_lack else {"one_of": options}


def _options(spec: Mapping[str, Any], kind: type) -> list[Any]:
    values: list[Any] = spec["any_of"]
    optional = spec.get("optional") is True
    first = type(values[0]) if values else kind
    if first is not kind:  # a variable
        as_numbers = float in (kind, first)
        return [_exact(v, as_numbers) for v in values]
    if kind is str:
        return [v for v in values if isinstance(v, str)] + ([""] if optional else [])
    if kind is dict:
        found = [_object(v) for v in values if isinstance(v, dict)]
        return found or ([{"object": {}}] if values else [{"any": True}])
    if kind is list:
        items = _KINDS.get(str(spec.get("item_type")))
        found = [_list(v, items, optional) for v in values if isinstance(v, list)]
        return found + ([[]] if optional and [] not in found else [])
    return [_number(v) if kind is float else v for v in values]


def _list(value: list[Any], items: type | None, optional: bool) -> Any:
    """First-level strings loose; numbers typed where the checker looks at the types of items."""
    if items is dict:
        return [_object(v) if isinstance(v, dict) else _exact(v, True) for v in value]
    if items is None or optional:
        return [v if isinstance(v, str) else _exact(v, True) for v in value]
    types = {items, type(value[0])} if value else {items}
    return [_item(v, types) for v in value]


def _item(value: Any, types: set[type]) -> Any:
    """An item may have the declared type, or that of the first expected one; here 5 is no float."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not {int, float} <= types:
        of = next((t for t in (int, float) if t in types), type(value))
        return {"typed": of(value)} if of is float else _exact(value, False)
    return _exact(value, True)


def _object(value: Mapping[str, Any]) -> Any:
    """Each member is a list of acceptable values, or an object of such lists."""
    members = {name: _member(accepted) for name, accepted in value.items()}
    return members if is_plain(members) else {"object": members}


def _member(accepted: Any) -> Any:
    if isinstance(accepted, dict):
        return _object(accepted)
    values = accepted if isinstance(accepted, list) else [accepted]
    options = [v if isinstance(v, str) else _exact(v, True) for v in values]
    return options[0] if len(options) == 1 else {"one_of": options} if options else dict(_NEVER)


def _exact(value: Any, as_numbers: bool) -> Any:
    """A value compared as it stands; numbers without types if `as_numbers`."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return _number(value) if as_numbers else value
    return {"literal": value} if isinstance(value, (str, list)) else exactly(value)


def _number(value: Any) -> Any:
    """Written with a fraction, which is how `matching: bfcl` knows a float."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return float(value) if abs(value) < _EXACT_FLOAT else {"literal": value}


PLUGIN = _Bfcl()
