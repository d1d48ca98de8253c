"""`toolscore`: gold files of Toolscore: a list of expected calls `{tool, args, ...}`, or several named lists.

A gold file is one case (named like the file) unless its entries hold `expected` lists of their own, with `input` or
`prompt` and `name`. Calls are compared exactly and in order; Toolscore's weighted score becomes pass or fail per layer.
`side_effects` are checked by Toolscore in the world and are not carried over.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported, exactly, unique
from otel_toolselect.suites.importing import Source


class _Toolscore:
    name = "toolscore"
    about = "Toolscore gold files: expected calls with arguments"

    def read(self, source: Source) -> Imported:
        whole = source.whole()
        found = Imported(source.stem, [], matching="exact")
        listed = whole
        if isinstance(whole, dict):
            lists = [whole[k] for k in ("cases", "calls", "expected", "gold") if isinstance(whole.get(k), list)]
            listed = lists[0] if lists else None
        if not isinstance(listed, list) or not all(isinstance(v, dict) for v in listed):
            raise InputError("a gold file is a list of {tool, args}", where=source.where)
        if not listed or any("tool" in v or ("name" in v and "expected" not in v) for v in listed):
            found.cases = [_case(source.stem, {}, listed, source.where, found)]
            return found
        taken: set[str] = set()
        for i, entry in enumerate(listed):
            source.step()
            place = f"{source.where}[{i}]"
            case_id = unique(str(entry.get("id") or entry.get("name") or f"case-{i + 1}"), taken)
            taken.add(case_id)
            calls = entry.get("expected")
            if not isinstance(calls, list):
                raise InputError("the case has no list called expected", where=place)
            found.cases.append(_case(case_id, entry, calls, place, found))
        return found


def _case(case_id: str, entry: dict[str, Any], calls: list[Any], place: str, found: Imported) -> dict[str, Any]:
    case: dict[str, Any] = {"id": case_id}
    prompt = entry.get("prompt", entry.get("input"))
    if isinstance(prompt, str) and prompt:
        case["prompt"] = prompt
    steps = [_step(call, f"{place}[{i}]") for i, call in enumerate(calls)]
    if any(isinstance(c, dict) and c.get("side_effects") for c in calls):
        found.notes.append(f"{place}: side effects are not carried over; a trace does not show the world")
    notes = [c["description"] for c in calls if isinstance(c, dict) and isinstance(c.get("description"), str)]
    if notes:
        case["rationale"] = "; ".join(notes)
    case["expect"] = {"reference": {"calls": steps, "mode": "exact"}}
    return case


def _step(call: Any, place: str) -> Any:
    tool = call.get("tool", call.get("name")) if isinstance(call, dict) else None
    if not isinstance(tool, str) or not tool:
        raise InputError("an expected call has no tool", where=place)
    args = call.get("args", call.get("arguments"))
    if args is None:
        return tool
    if not isinstance(args, dict):
        raise InputError(f"the args of {tool} must be an object", where=place)
    return {"tool": tool, "args": {k: exactly(v) for k, v in args.items()}}


PLUGIN = _Toolscore()
