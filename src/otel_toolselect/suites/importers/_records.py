"""What importers of case lines share: members that must be there, pinned tools, names with a second spelling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from otel_toolselect.errors import InputError

NO_CALL = ["none", "ask_followup", "refuse_no_tool"]


def text(record: Mapping[str, Any], key: str, place: str) -> str:
    value = record.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise InputError(f"the case has no {key}", where=place)
    return value


def objects(record: Mapping[str, Any], key: str, place: str) -> list[dict[str, Any]]:
    """A list of objects; absent or null is empty."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise InputError(f"{key} must be a list of objects", where=place)
    return value


def names(record: Mapping[str, Any], key: str) -> list[str]:
    value = record.get(key)
    found = [v for v in value if isinstance(v, str) and v] if isinstance(value, list) else []
    return list(dict.fromkeys(found))


def base(record: Mapping[str, Any], place: str) -> dict[str, Any]:
    """id, prompt, pinned tools and category of a case line."""
    case: dict[str, Any] = {"id": text(record, "id", place)}
    if isinstance(record.get("prompt"), str) and record["prompt"]:
        case["prompt"] = record["prompt"]
    if offered := names(record, "tools_offered"):
        case["tools"] = offered
    if isinstance(record.get("category"), str) and record["category"]:
        case["tags"] = {"category": record["category"]}
    return case


class Names:
    """Tools of a whole set, and the second spelling that some models are shown (dots are not allowed everywhere).

    Spellings become aliases of the suite's policy; two tools that share a spelling are one tool there, which is all
    that a trace lets anybody see.
    """

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}  # spelling -> canonical
        self._canonical: dict[str, str] = {}
        self._tools: dict[str, None] = {}

    def add(self, tools: Iterable[str], aliases: Mapping[str, Any] | None = None) -> None:
        for tool in tools:
            self._tools[tool] = None
        for tool, shown in (aliases or {}).items():
            if isinstance(shown, str) and shown and shown != tool:
                self._canonical[tool] = self._shown.setdefault(shown, tool)
                self._tools[tool] = None

    def policy(self) -> dict[str, Any]:
        """Empty when no tool has a second spelling: names are then taken as they are."""
        if not self._shown:
            return {}
        aliases = {tool: first for tool, first in self._canonical.items() if first != tool}
        aliases |= {shown: tool for shown, tool in self._shown.items() if tool not in aliases}
        return {"tools": {t: {} for t in self._tools}, "aliases": aliases}
