"""What holds for pages as a whole: markers, links, tables of contents."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs import links, not_run, pages, scenes

PATHS = pages.paths()
BLOCKS = [block for path in PATHS for block in pages.blocks_of(path)]


def named(path: Path) -> str:
    return str(path.relative_to(pages.ROOT))


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    wanted = not_run.LIST.read_text("utf-8")
    assert not_run.listed() == wanted, "look at the difference, then: python -m tests.docs.not_run"


def test_every_reason_says_something() -> None:
    for block in BLOCKS:
        if block.marker in ("not run", "only compiled"):
            assert len(block.argument.split()) >= 3, f"{block.where}: {block.argument!r} is no reason"


def test_every_block_has_a_language_that_something_runs() -> None:
    for block in BLOCKS:
        if block.marker != "not run" and block.language not in ("setup", "stop"):
            assert block.language in pages.LANGUAGES, f"{block.where}: {block.language!r}; see docs/project/writing.md"


def test_no_command_hides_in_a_text() -> None:
    for block in BLOCKS:
        if block.language == "text":
            hidden = re.search(r"^(\$ .*|toolselect .*)", block.text, re.M)
            assert not hidden, f"{block.where}: `{hidden and hidden[0]}` is a command: use sh or console"


def test_a_console_block_begins_with_a_command() -> None:
    for block in BLOCKS:
        if block.language == "console" and block.marker != "not run":
            assert block.text.startswith("$ "), block.where


def test_every_scene_is_there_and_used() -> None:
    used = {block.text for block in BLOCKS if block.language == "setup"}
    for name in used:
        assert callable(getattr(scenes, name, None)), f"tests/docs/scenes.py has no scene {name!r}"


@pytest.mark.parametrize("path", PATHS, ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    for link in links.of(path):
        if links.is_outside(link):
            continue
        place, _, anchor = unquote(link).partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), f"{named(path)}: {link} leads nowhere"
        if anchor and target.suffix == ".md" and not _costly(target):
            assert anchor in links.anchors(target), f"{named(path)}: {link}: no such heading; there are " + ", ".join(
                sorted(links.anchors(target))
            )


def _costly(path: Path) -> bool:
    """Pages with parts that a store and a server must be started for; `make docs` checks links into them."""
    return re.search(r"generated: (outputs|metrics|tables)", path.read_text("utf-8")) is not None


def test_every_page_is_in_a_table_of_contents() -> None:
    inside = {pages.DOCS / "index.md"}
    for path in pages.DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
            for line in block.splitlines():
                folder, _, name = line.rpartition("/")
                if name and not line.startswith(":"):
                    inside |= set((path.parent / folder).resolve().glob(f"{name}.md"))
    missing = sorted(named(path) for path in set(pages.DOCS.rglob("*.md")) - inside)
    assert not missing, f"{missing}: put each into the toctree of a page in howto, reference, explain or project"
