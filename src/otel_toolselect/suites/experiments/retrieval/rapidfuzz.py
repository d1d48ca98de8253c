"""Likeness of letters: rapidfuzz's token_set_ratio of the prompt and the tool's words, 0 to 100."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.experiments.retrieval._words import document


class _Fuzzy:
    name = "rapidfuzz"
    about = "token_set_ratio of the prompt and the tool's words"

    def scores(self, prompt: str, tools: Sequence[ToolDefinition]) -> list[float]:
        return [fuzz.token_set_ratio(prompt, document(tool), processor=default_process) for tool in tools]


PLUGIN = _Fuzzy()
