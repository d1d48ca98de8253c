"""A tool as the words that a retriever reads: its name cut into words, its description, the names of its parameters."""

from __future__ import annotations

import re

from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.triage.overlap import words

_WORD = re.compile(r"\w+")


def terms(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def document(tool: ToolDefinition) -> str:
    properties = (tool.schema or {}).get("properties")
    named = " ".join(words(str(name)) for name in properties) if isinstance(properties, dict) else ""
    return f"{words(tool.name)} {tool.description} {named}".strip()
