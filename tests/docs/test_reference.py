"""The generated parts of the reference leave nothing out, and the examples of the commands are command lines."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile

import pytest
from docs._reference import MARK, PARTS, commands, settings

from otel_toolselect import cli, errors
from otel_toolselect.config import KEYS
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.registry import discover
from otel_toolselect.rules.expect import kinds
from otel_toolselect.rules.matching import matchers
from tests.docs.pages import DOCS

CHEAP = sorted(PARTS.keys() - {"outputs", "metrics"})  # these two start a server and a dozen commands; `make docs` does
EXAMPLES = sorted({typed for _, c in commands.commands() for _, typed in commands.examples(c) if typed[0] != "#"})


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    return {name: PARTS[name]() for name in CHEAP}


def test_every_part_stands_on_a_page() -> None:
    used = [
        name
        for page in DOCS.rglob("*.md")
        for name in MARK.findall(page.read_text("utf-8"))
        if page.name != "writing.md"
    ]
    assert sorted(used) == sorted(PARTS)


def test_every_setting_with_its_variable_and_its_meaning(said: dict[str, str]) -> None:
    assert settings.undocumented() == []
    for key in KEYS:
        assert f"`{key.name}`" in said["settings"]
        assert not key.variable or f"`{key.variable}`" in said["settings"]


def test_every_command_with_its_options(said: dict[str, str]) -> None:
    found = dict(commands.commands())
    assert {path.split()[0] for path in found} == set(cli.command_names())
    for path, command in found.items():
        section = said["commands"].partition(f"## `{path}`\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            assert parameter.help, f"{path}: {parameter.name} has no help"
            assert all(opt in section for opt in parameter.opts if opt.startswith("-")), (path, parameter.opts)


def test_the_vocabulary_is_whole(said: dict[str, str]) -> None:
    for name in kinds():
        assert f"`{name}`" in said["expectations"]
    for name in matchers().keys() - {"literal", "object"}:
        assert f"| `{name}` |" in said["matchers"]
    for name in SIGNALS:
        assert f"| `{name}` |" in said["signals"]
    for name in discover("otel_toolselect.dialects"):
        assert f"| `{name}` |" in said["dialects"]


def test_every_error_is_in_the_tree(said: dict[str, str]) -> None:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert name in said["errors"]


def test_every_table_has_a_meaning(said: dict[str, str]) -> None:
    for name, text in re.findall(r"^## `(\w+)`\n\n(.*?)\n", said["tables"], re.M):
        assert text or name in ("toolselect_migrations",), f"no comment stands before CREATE TABLE {name}"


@pytest.mark.parametrize("typed", EXAMPLES)
def test_examples_of_the_help_are_command_lines(typed: str) -> None:
    words = shlex.split(typed)
    start = words.index("toolselect") + 1
    ours = list(takewhile(lambda word: word not in ("&&", "|", ">"), words[start:]))
    command, given = commands.named(ours)
    command.make_context("toolselect", given)
