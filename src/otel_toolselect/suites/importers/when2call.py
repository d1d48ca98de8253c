"""`when2call`: NVIDIA's When2Call: should the model call, ask, decline, or answer?

A case line has `id`, `prompt`, `tools_offered` and `expected_class`; the set's own lines have `question`, `tools` and
`correct_answer`. The classes:

    tool_call         class required, first: the acceptable tools (else of the reference call, else any)
    request_for_info  class clarify
    cannot_answer     class refuse
    direct            class none

A reference call's arguments are the set's one example, not the only right ones, so they are not expected.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported
from otel_toolselect.suites.importers._records import Names, base, names
from otel_toolselect.suites.importing import Source

_CLASSES = {"tool_call": "required", "request_for_info": "clarify", "cannot_answer": "refuse", "direct": "none"}


class _When2Call:
    name = "when2call"
    about = "NVIDIA When2Call: call, ask, decline or answer"

    def read(self, source: Source) -> Imported:
        found = Imported(source.stem, [])
        tools = Names()
        for place, record in source.records():
            if isinstance(record.get("dataset"), str):
                found.suite = record["dataset"]
            case = base(_normalized(record), place)
            expected = record.get("expected_class", record.get("correct_answer"))
            if expected not in _CLASSES:
                said = f"expected_class is {expected!r}, not one of {', '.join(_CLASSES)}"
                raise InputError(said, where=place)
            case["expect"] = {"class": _CLASSES[expected]}
            allowed = _allowed(record) if expected == "tool_call" else []
            if allowed:
                case["expect"]["first"] = allowed
            tools.add([*case.get("tools", ()), *allowed], record.get("tool_aliases"))
            found.cases.append(case)
        found.policy = tools.policy()
        return found


def _normalized(record: Mapping[str, Any]) -> dict[str, Any]:
    """The set's own line in the form of a case line."""
    done = dict(record)
    done.setdefault("prompt", record.get("question"))
    done.setdefault("id", record.get("uuid") or _made_id(str(done["prompt"])))
    if "tools_offered" not in done and isinstance(record.get("tools"), list):
        read = [json.loads(t) if isinstance(t, str) and t.startswith("{") else t for t in record["tools"]]
        done["tools_offered"] = [t["name"] if isinstance(t, dict) and "name" in t else t for t in read]
    return done


def _made_id(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _allowed(record: Mapping[str, Any]) -> list[str]:
    listed = names(record, "acceptable_tools")
    reference = record.get("reference_call", record.get("target_tool"))
    if not listed and isinstance(reference, dict) and isinstance(reference.get("name"), str):
        return [reference["name"]]
    return listed


PLUGIN = _When2Call()
