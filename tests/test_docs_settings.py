"""Blocks of configuration in the docs are read by the program, and the names they list are those there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_toolselect import config
from otel_toolselect.otlp.redact import redactor

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["live.md", "redaction.md"]


def blocks(page: str) -> list[str]:
    return re.findall(r"```toml\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_a_configuration(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found
    for block in found:
        (tmp_path / config.FILE_NAME).write_text(block, "utf-8")
        assert config.load(env={"TOOLSELECT_REDACT_KEY": "k" * 32}) != config.Settings()


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
