"""Runs written out by hand in a test file: facts and events -> a Run.

Events in the order of the run, in the short form

    - {call: NAME, args: {...}, ok: true, value: {...}}    # a call and its result; without ok, value, error: none
    - {call: NAME, turn: 1, error: timeout, infra: true}   # error means ok: false; calls of one turn share its number
    - {text: "..."}                                        # what the assistant said; the last one is the final text

or as `toolselect events --format json` prints them (`kind: tool_call` and so on), so that a real run can be pasted.
Every event is a turn of its own unless `turn` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from otel_toolselect.model.runs import (
    AssistantText,
    Event,
    NoCall,
    Run,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Unknown,
)
from otel_toolselect.rules._nodes import Fields, Node, Scalar, clip, kind_of, to_json
from otel_toolselect.rules.problems import Problems

Reading = Callable[["str | None"], NoCall]
_TEXTS = (
    "id", "agent", "service", "model", "provider", "request", "case_id", "suite", "label", "conversation_id",
    "catalog_id", "prompt_version", "incomplete", "parent",
)  # fmt: skip
_NUMBERS = ("attempt", "input_tokens", "output_tokens")
FACTS = (*_TEXTS, *_NUMBERS, "seconds", "cost_usd", "start", "tools", "history", "attributes", "events")
CALL_KEYS = ("call", "args", "turn", "ok", "value", "error", "infra", "executed", "server")
EVENT_KEYS = (
    "kind", "turn", "seq", "name", "args", "call_id", "emitted", "executed", "ok", "value", "error_type", "infra",
    "text", "dialect", "trace_id", "run_id", "agent", "args_error", "args_raw", "server", "duration_s",
)  # fmt: skip
_Found = Mapping[str, tuple[Scalar, Node]]


def given_run(facts: Node | None, events: Node | None, name: str, reading: Reading, problems: Problems) -> Run | None:
    """The run; None after recording what is wrong."""
    before = len(problems.found)
    found: _Found = {}
    if facts is not None:
        found = problems.fields(facts, "a run", FACTS, synonyms={"prompt": "request", "case": "case_id"}) or {}
    if events is None:
        events = found["events"][1] if "events" in found else None
    elif "events" in found:
        problems.add(found["events"][0], "events stand twice", "keep those beside run")
    if events is None:
        if facts is not None and len(problems.found) == before:
            problems.add(
                facts, "a run has no events", "write events: [{call: TOOL}], or events: [] if nothing happened"
            )
        return None
    seen = _Events(problems)
    for item in problems.items(events, "events", example="[{call: TOOL, args: {...}, ok: true}, {text: ...}]"):
        seen.add(item)
    fields = _facts(found, problems)
    if len(problems.found) > before:
        return None
    run_id = fields.pop("id", None) or name
    last = seen.events[-1] if seen.events else None
    final = last.text if isinstance(last, AssistantText) else None
    trace: dict[str, Any] = {"trace_id": f"trace-{run_id}", "trace_ids": (f"trace-{run_id}",)}
    return Run(
        run_id=run_id, events=tuple(seen.events), final_text=final, no_call=reading(final), **trace, **fields
    )  # fmt: skip


def _facts(found: _Found, problems: Problems) -> dict[str, Any]:
    fields: dict[str, Any] = {k: problems.text(found[k][1], k) for k in _TEXTS if k in found}
    fields |= {k: problems.whole(found[k][1], k, least=0) for k in _NUMBERS if k in found}
    if "parent" in fields:
        fields["parent_run_id"] = fields.pop("parent")
    if "seconds" in found:
        fields["duration_ns"] = int((problems.number(found["seconds"][1], "seconds") or 0) * 1e9)
    if "cost_usd" in found:
        fields["cost_usd"] = problems.number(found["cost_usd"][1], "cost_usd")
    if "start" in found:
        fields["start_ns"] = _time(found["start"][1], problems)
    if "tools" in found:
        tools = (_tool(item, problems) for item in problems.items(found["tools"][1], "tools", example="[NAME]"))
        fields["tools"] = tuple(t for t in tools if t is not None)
    if "history" in found:
        fields["history"] = tuple(text for text, _ in problems.texts(found["history"][1], "history"))
    if "attributes" in found:
        node = found["attributes"][1]
        if isinstance(node, Fields) and all(isinstance(v, Scalar) for _, v in node.entries):
            fields["attributes"] = to_json(node)
        else:
            problems.add(node, "attributes must be a mapping of plain values", "write {NAME: VALUE}")
    return fields


def _time(node: Node, problems: Problems) -> int:
    text = problems.text(node, "start") or ""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        problems.add(node, f"start {clip(text, 40)!r} is no time", "write 2026-01-31T12:00:00Z")
        return 0
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def _tool(node: Node, problems: Problems) -> ToolDefinition | None:
    if isinstance(node, Scalar):
        name = problems.text(node, "a tool")
        return None if name is None else ToolDefinition(name)
    found = problems.fields(node, "a tool", ("name", "description", "schema")) or {}
    name = problems.text(found["name"][1], "name") if "name" in found else None
    if "name" not in found:
        problems.add(node, "a tool has no name", "write {name: NAME, description: ..., schema: {...}}")
    said = problems.text(found["description"][1], "description") if "description" in found else ""
    schema = to_json(found["schema"][1]) if "schema" in found else None
    if schema is not None and not isinstance(schema, dict):
        problems.add(found["schema"][1], "schema must be a JSON Schema object")
        schema = None
    return None if name is None else ToolDefinition(name, said or "", schema)


class _Events:
    """Events as they are read; results find their calls."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.events: list[Event] = []
        self.turn = 0
        self.waiting: list[ToolCall] = []

    def add(self, node: Node) -> None:
        if not isinstance(node, Fields):
            self.problems.add(node, f"an event must be a mapping, not {kind_of(node)}", "write {call: TOOL}")
        elif node.get("kind") is not None:
            self._recorded(node)
        elif node.get("text") is not None and node.get("call") is None:
            found = self.problems.fields(node, "a text", ("text", "turn")) or {}
            text = self.problems.text(found["text"][1], "text") if "text" in found else None
            if text is not None:
                self.events.append(AssistantText(self._turn(found), len(self.events), text, "test"))
        else:
            self._call(node)

    def _turn(self, found: _Found) -> int:
        if "turn" in found:
            self.turn = self.problems.whole(found["turn"][1], "turn", least=0) or 0
        else:
            self.turn += 1
        return self.turn

    def _flag(self, found: _Found, key: str) -> bool | None:
        return self.problems.boolean(found[key][1], key) if key in found else None

    def _args(self, found: _Found) -> dict[str, Any] | Unknown:
        if "args" not in found:
            return {}
        args = to_json(found["args"][1])
        if not isinstance(args, dict):
            self.problems.add(found["args"][1], f"args must be a mapping, not {kind_of(found['args'][1])}")
            return {}
        return args

    def _call(self, node: Fields) -> None:
        known = {"tool": "call", "tool_call": "call", "result": "value", "error_type": "error"}
        found = self.problems.fields(node, "an event", CALL_KEYS, synonyms=known)
        if found is None:
            return
        name = self.problems.text(found["call"][1], "call") if "call" in found else None
        if name is None:
            if "call" not in found:
                self.problems.add(node, "an event is a call or a text", "write {call: TOOL} or {text: ...}")
            return
        ok = self._flag(found, "ok")
        error = self.problems.text(found["error"][1], "error") if "error" in found else None
        answered = ok is not None or error is not None or "value" in found
        if ok is None and answered:
            ok = error is None
        executed = self._flag(found, "executed")
        server = self.problems.text(found["server"][1], "server") if "server" in found else None
        turn, seq = self._turn(found), len(self.events)
        ran = answered if executed is None else executed
        self.events.append(ToolCall(turn, seq, name, self._args(found), None, True, ran, "test", server=server))
        if answered:
            value = to_json(found["value"][1]) if "value" in found else None
            infra = bool(self._flag(found, "infra"))
            self.events.append(ToolResult(turn, seq + 1, seq, name, None, ok, value, "test", error, infra))

    def _recorded(self, node: Fields) -> None:
        """An event as `toolselect events` prints it."""
        found = self.problems.fields(node, "an event", EVENT_KEYS)
        if found is None:
            return
        kind = self.problems.choice(found["kind"][1], "kind", ("assistant", "tool_call", "tool_result"))
        if kind is None:
            return
        turn, seq = self._turn(found), len(self.events)
        held: dict[str, Any] = {k: to_json(v) for k, (_, v) in found.items()}
        name, call_id = str(held.get("name", "")), held.get("call_id")
        if kind == "assistant":
            self.events.append(AssistantText(turn, seq, str(held.get("text", "")), "test"))
        elif not name:
            self.problems.add(node, f"a {kind} has no name", "write name: TOOL")
        elif kind == "tool_call":
            args = self._args(found) if "args" in found else Unknown(str(held.get("args_error", "not recorded")))
            flags = (held.get("emitted", True) is True, held.get("executed", False) is True)
            made = ToolCall(turn, seq, name, args, call_id, *flags, "test", server=held.get("server"))
            self.events.append(made)
            self.waiting.append(made)
        else:
            self._result(node, held, turn, seq)

    def _result(self, node: Node, held: Mapping[str, Any], turn: int, seq: int) -> None:
        name, call_id = held["name"], held.get("call_id")
        fits = [c for c in self.waiting if c.call_id == call_id and c.name == name]
        if not fits:
            self.problems.add(
                node, f"no call of {clip(name, 40)!r} stands before this result", "put the call before it"
            )
            return
        self.waiting.remove(fits[0])
        value = held["value"] if "value" in held else Unknown("not recorded")
        infra = held.get("infra") is True
        result = ToolResult(
            turn, seq, fits[0].seq, name, call_id, held.get("ok"), value, "test", held.get("error_type"), infra
        )
        self.events.append(result)
