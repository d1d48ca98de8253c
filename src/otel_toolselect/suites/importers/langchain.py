"""`langchain`: reference trajectories with the match modes of LangChain's agentevals (and of LangSmith examples).

One record a case: the reference messages under `reference_outputs`, `outputs` or `reference` (a list, or an object with
`messages`), the user's text in `inputs` or in the reference itself. Beside them, per record:

    trajectory_match_mode      strict -> exact, unordered, subset, superset (strict unless given)
    tool_args_match_mode       exact -> all arguments equal; ignore -> tools only; superset -> the listed ones equal;
                               subset -> none but the listed ones
    tool_args_match_overrides  {TOOL: a mode, or a list of the arguments that must be equal}

Only calls are compared: what a strict match says of the messages between them is not carried over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported, exactly, unique
from otel_toolselect.suites.importers import _messages
from otel_toolselect.suites.importing import Source

_MODES = {"strict": "exact", "unordered": "unordered", "subset": "subset", "superset": "superset"}
_ARGS = ("exact", "ignore", "subset", "superset")
_REFERENCES = ("reference_outputs", "referenceOutputs", "outputs", "reference", "reference_trajectory", "messages")


class _LangChain:
    name = "langchain"
    about = "LangChain trajectory matching: reference messages with a match mode"

    def read(self, source: Source) -> Imported:
        found = Imported(source.stem, [])
        taken: set[str] = set()
        for place, record in source.records():
            case_id = unique(str(record.get("id") or record.get("name") or f"case-{len(taken) + 1}"), taken)
            taken.add(case_id)
            case: dict[str, Any] = {"id": case_id}
            messages = _reference(record, place)
            inputs = record.get("inputs", record.get("input"))
            prompt = _request(inputs) or _messages.request(messages)
            if prompt:
                case["prompt"] = prompt
            case["expect"] = {"reference": _expected(record, messages, place)}
            found.cases.append(case)
        return found


def _reference(record: Mapping[str, Any], place: str) -> list[Any]:
    for key in _REFERENCES:
        value = record.get(key)
        messages = value.get("messages", value.get("trajectory")) if isinstance(value, dict) else value
        if isinstance(messages, list):
            return messages
    raise InputError(f"no reference messages; one of {', '.join(_REFERENCES)} holds them", where=place)


def _request(inputs: Any) -> str | None:
    if isinstance(inputs, str):
        return inputs
    if isinstance(inputs, dict):
        if isinstance(inputs.get("messages"), list):
            return _messages.request(inputs["messages"])
        texts = [inputs[k] for k in ("question", "input", "query", "prompt") if isinstance(inputs.get(k), str)]
        return texts[0] if texts else None
    return None


def _expected(record: Mapping[str, Any], messages: list[Any], place: str) -> dict[str, Any]:
    mode = _choice(record, "trajectory_match_mode", "strict", tuple(_MODES), place)
    how = _choice(record, "tool_args_match_mode", "exact", _ARGS, place)
    overrides = record.get("tool_args_match_overrides")
    per_tool = overrides if isinstance(overrides, dict) else {}
    calls: list[Any] = []
    is_open = False
    for tool, args in _messages.calls(messages, place):
        rule = per_tool.get(tool, how)
        is_open = is_open or rule == "superset" or isinstance(rule, list)
        calls.append(_step(tool, args, rule, place))
    return {"calls": calls, "mode": _MODES[mode], "matching": "listed" if is_open else "exact"}


def _step(tool: str, args: Mapping[str, Any], rule: Any, place: str) -> Any:
    if rule == "ignore":
        return tool
    if isinstance(rule, list):
        return {"tool": tool, "args": {k: exactly(v) for k, v in args.items() if k in rule}}
    if rule == "subset":
        return {"tool": tool, "args": {k: {"one_of": [exactly(v)], "optional": True} for k, v in args.items()}}
    if rule not in _ARGS:
        raise InputError(f"tool_args_match_overrides of {tool} must be a mode or a list of arguments", where=place)
    return {"tool": tool, "args": {k: exactly(v) for k, v in args.items()}}


def _choice(record: Mapping[str, Any], key: str, default: str, known: tuple[str, ...], place: str) -> str:
    value = record.get(key, default)
    if value not in known:
        raise InputError(f"{key} is {value!r}, not one of {', '.join(known)}", where=place)
    return str(value)


PLUGIN = _LangChain()
