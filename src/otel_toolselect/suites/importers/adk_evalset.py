"""`adk-evalset`: eval sets of Google's Agent Development Kit, as ADK and agentevals use them.

Each invocation of a conversation is a case, found by its user text: its tool calls are the reference, names and
arguments equal, in order, nothing else (`tool_trajectory_avg_score` with match type EXACT; the other match types are a
`mode` away: IN_ORDER is ordered, ANY_ORDER superset). An invocation without tool calls expects none. The final response
is scored by ADK with ROUGE or a judge, which is not carried over.

Three generations are read: `tool_uses` under `intermediate_data`, `invocation_events` with function calls, and the old
list of `{query, expected_tool_use, reference}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported, exactly, unique
from otel_toolselect.suites.importing import Source


class _AdkEvalSet:
    name = "adk-evalset"
    about = "Google ADK eval sets (also agentevals): the exact tool trajectory of each invocation"

    def read(self, source: Source) -> Imported:
        whole = source.whole()
        found = Imported(source.stem, [], matching="exact")
        if isinstance(whole, dict):
            found.suite = str(_get(whole, "eval_set_id") or found.suite)
        taken: set[str] = set()
        for place, name, invocation in _invocations(whole, source.where):
            source.step()
            case_id = unique(name, taken)
            taken.add(case_id)
            case: dict[str, Any] = {"id": case_id}
            if prompt := _text(_get(invocation, "user_content")) or invocation.get("query"):
                case["prompt"] = prompt
            calls = [_call(c, place) for c in _calls(invocation)]
            case["expect"] = {"reference": {"calls": calls, "mode": "exact"}}
            found.cases.append(case)
        return found


def _get(record: Any, name: str) -> Any:
    """A member by its snake_case name or its camelCase alias."""
    if not isinstance(record, dict):
        return None
    head, *rest = name.split("_")
    camel = head + "".join(word.capitalize() for word in rest)
    return record.get(name, record.get(camel))


def _invocations(whole: Any, where: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(place, case id, invocation)."""
    if isinstance(whole, list):  # the old form: one test file, a list of turns or of named conversations
        yield from _old(whole, where)
        return
    cases = _get(whole, "eval_cases")
    if not isinstance(cases, list):
        raise InputError("an eval set holds eval_cases", where=where)
    for i, case in enumerate(cases):
        place = f"{where}: eval_cases[{i}]"
        conversation = _get(case, "conversation")
        name = str(_get(case, "eval_id") or f"case-{i + 1}")
        if not isinstance(conversation, list) or not all(isinstance(v, dict) for v in conversation):
            raise InputError("the case has no conversation (generated ones have no expected calls)", where=place)
        for n, invocation in enumerate(conversation):
            yield place, name if len(conversation) == 1 else f"{name}/{n + 1}", invocation


def _old(whole: list[Any], where: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for i, entry in enumerate(whole):
        place = f"{where}[{i}]"
        if not isinstance(entry, dict):
            raise InputError("must be an object", where=place)
        data = entry.get("data")
        turns = data if isinstance(data, list) else [entry]
        name = str(entry.get("name") or f"turn-{i + 1}")
        for n, turn in enumerate(turns):
            if isinstance(turn, dict):
                yield place, name if len(turns) == 1 else f"{name}/{n + 1}", turn


def _text(content: Any) -> str:
    parts = _get(content, "parts")
    texts = [p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str)] if parts else []
    return "\n".join(texts)


def _calls(invocation: Mapping[str, Any]) -> list[Any]:
    data = _get(invocation, "intermediate_data")
    uses = _get(data, "tool_uses")
    if isinstance(uses, list):
        return uses
    events = _get(data, "invocation_events")
    if isinstance(events, list):
        parts = [p for e in events for p in _get(_get(e, "content"), "parts") or ()]
        return [call for p in parts if (call := _get(p, "function_call")) is not None]
    old = invocation.get("expected_tool_use")
    return old if isinstance(old, list) else []


def _call(call: Any, place: str) -> dict[str, Any]:
    name = call.get("name", call.get("tool_name")) if isinstance(call, dict) else None
    if not isinstance(name, str) or not name:
        raise InputError("a tool use has no name", where=place)
    args = call.get("args", call.get("tool_input")) or {}
    if not isinstance(args, dict):
        raise InputError(f"the args of {name} must be an object", where=place)
    return {"tool": name, "args": {k: exactly(v) for k, v in args.items()}}


PLUGIN = _AdkEvalSet()
