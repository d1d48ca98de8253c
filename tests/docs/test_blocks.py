"""Every block of code of every page is carried out, page by page, in the order in which a reader meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import pages, parsed, scenes
from tests.docs.commands import commands_and_output, commands_of
from tests.docs.shell import Session

OWN_PROCESSES = {"docs/tutorial/index.md"}
"""Pages that are followed as a user would, each command a process of its own."""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("page", pages.names())
def test_page(page: str, session: Session) -> None:
    session.own_processes = page in OWN_PROCESSES
    blocks = pages.blocks_of(pages.ROOT / page)
    for block in reversed(blocks):  # a page may show a file after the command that reads it
        if block.marker == "file":
            session.write(block.argument, block.text)
    for block in blocks:
        if block.marker != "not run":
            carry_out(block, session)


def carry_out(block: pages.Block, session: Session) -> None:
    if block.marker == "file":
        session.write(block.argument, block.text)
    match block.language:
        case "setup":
            getattr(scenes, block.text)(session)
        case "stop":
            session.stop(block.text)
        case "sh" | "console":
            read = commands_of if block.language == "sh" else commands_and_output
            for command in read(block.text):
                session.run(command, block.where)
        case "python":
            if block.marker in ("only compiled", "file"):
                compile(block.text, block.where, "exec", dont_inherit=True)
            else:
                session.python(block.text, block.where)
        case "sql":
            session.sql(block.text, block.where)
        case "pycon":
            session.doctest(block.text, block.where)
        case "text":
            pass
        case language if language in parsed.READERS:
            name = block.argument if block.marker == "file" else f"block-{block.line}.{language}"
            parsed.READERS[language](block, session.write(name, block.text))
        case language:
            pytest.fail(f"{block.where}: nothing runs {language or 'a fence without a language'}; see docs/writing.md")
