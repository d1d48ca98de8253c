"""The names that the docs list are those there are (their blocks are carried out by tests/docs)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_toolselect import config
from otel_toolselect.otlp.redact import redactor

DOCS = Path(__file__).parents[1] / "docs"


def test_the_patterns_that_the_page_names_are_those_there_are() -> None:
    text = (DOCS / "redaction.md").read_text("utf-8")
    listed = re.search(r"Names of patterns: (.*?)\. Patterns", text, re.DOTALL)
    assert listed is not None
    names = re.findall(r"`(\w+)`", listed[1])
    for name in names:
        assert redactor(config.Redact(patterns=(name,))) is not None
    with pytest.raises(Exception, match=names[0]) as caught:
        redactor(config.Redact(patterns=("no-such-pattern",)))
    assert all(name in str(caught.value) for name in names)
