"""`tau-bench`: tasks of tau-bench (airline, retail), one JSON line a task, by the declarative write rule.

A task line has `id`, `write_tools`, `required_write_calls` (or `expected_calls` with `changes_state`) and
`required_outputs`. The benchmark compares databases; without one, a run is right when

- the multiset of its successful write calls is that of the state-changing expected writes, arguments compared as JSON,
  members aside that the tool's schema does not define (the tool was not asked for them);
- each required output was said in some message to the user;
- the conversation came to an end: the benchmark stops it after 30 model turns and counts it as lost (`max_steps`).

Reads, their order and the wording are free. The benchmark's own form is read too: `actions: [{name, arguments}]` and
`outputs`; without `write_tools` a tool is a write unless its name begins with a verb of looking.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported, exactly
from otel_toolselect.suites.importers._records import base, names, objects
from otel_toolselect.suites.importing import Source

_READS = ("get", "find", "list", "search", "calculate", "think", "transfer", "check", "lookup", "read", "show")
_AMONG = "effect:write ok"
_MAX_STEPS = 30


class _TauBench:
    name = "tau-bench"
    about = "tau-bench tasks: the writes that must happen and the texts that must be said"

    def read(self, source: Source) -> Imported:
        found = Imported(source.stem, [], matching="exact")
        tools: dict[str, dict[str, str]] = {}
        for place, record in source.records():
            if isinstance(record.get("dataset"), str):
                found.suite = record["dataset"]
            case = base({**record, "id": record.get("id", len(found.cases)), "prompt": _prompt(record)}, place)
            writes = _writes(record, place)
            declared = names(record, "write_tools")
            for tool in [*names(record, "tools_offered"), *declared, *(c["tool"] for c in writes)]:
                is_write = tool in declared if declared else not tool.lower().startswith(_READS)
                effect = "write" if is_write or any(c["tool"] == tool for c in writes) else "read"
                tools[tool] = {"effect": "write" if tools.get(tool) == {"effect": "write"} else effect}
            expect: dict[str, Any] = {"reference": {"calls": writes, "mode": "unordered", "among": _AMONG}}
            expect["ended"] = {"before_turn": record.get("max_steps", _MAX_STEPS)}
            if outputs := _outputs(record):
                expect["said"] = outputs
            case["expect"] = expect
            found.cases.append(case)
        if not any(t["effect"] == "write" for t in tools.values()):
            raise InputError("no task names a tool that writes; write_tools says which do", where=source.where)
        found.policy = {"tools": tools}
        return found


def _prompt(record: Mapping[str, Any]) -> Any:
    return record.get("prompt") or record.get("instruction")


def _outputs(record: Mapping[str, Any]) -> list[str]:
    listed = record.get("required_outputs", record.get("outputs"))
    return [str(v) for v in listed if v not in ("", None)] if isinstance(listed, list) else []


def _writes(record: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """The state-changing expected calls, in the reference's form."""
    if "required_write_calls" in record:
        listed = objects(record, "required_write_calls", place)
    elif "actions" in record:
        declared = names(record, "write_tools")
        named = [
            {"tool": a.get("name"), "args": a.get("arguments", a.get("kwargs"))}
            for a in objects(record, "actions", place)
        ]
        listed = [c for c in named if (c["tool"] in declared if declared else not _reads(c["tool"]))]
    else:
        listed = [c for c in objects(record, "expected_calls", place) if c.get("changes_state", c.get("writes", True))]
    schemas = _schemas(record, place)
    found = []
    for call in listed:
        tool, args = call.get("tool"), call.get("args") or {}
        if not isinstance(tool, str) or not isinstance(args, dict):
            raise InputError("an expected write needs a tool and args", where=place)
        known = _properties(schemas.get(tool)) or {}
        found.append({"tool": tool, "args": {name: _value(value, known.get(name)) for name, value in args.items()}})
    return found


def _schemas(record: Mapping[str, Any], place: str) -> dict[str, Any]:
    definitions = objects(record, "tool_definitions", place)
    plain = [d.get("function", d) for d in definitions]
    return {d["name"]: d.get("parameters") for d in plain if isinstance(d, dict) and isinstance(d.get("name"), str)}


def _properties(schema: Any) -> dict[str, Any] | None:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else None


def _value(value: Any, schema: Any) -> Any:
    """The value itself; objects whose members the schema defines are open for members that it does not."""
    if isinstance(value, list):
        items = schema.get("items") if isinstance(schema, dict) else None
        return [_value(v, items) for v in value]
    known = _properties(schema)
    if not isinstance(value, dict) or not known:
        return exactly(value)
    members = {name: _value(v, known.get(name)) for name, v in value.items()}
    unused: dict[str, Any] = {name: {"absent": True} for name in known if name not in value}
    return {"object": members | unused, "open": True}


def _reads(tool: Any) -> bool:
    return isinstance(tool, str) and tool.lower().startswith(_READS)


PLUGIN = _TauBench()
