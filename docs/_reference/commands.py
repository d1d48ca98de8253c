"""Every command: its help, options, examples and exit codes, as typer knows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer
from docs._reference._markdown import code, table

from otel_toolselect import cli

EXIT_CODES = (
    ("0", "done; of what is judged, all passed"),
    ("1", "judged, and something failed; or found something to mend"),
    ("2", "bad usage or input; the message says where, and what would be right"),
    ("3", "too few observations to decide, or nothing to judge"),
    ("4", "the store, a server or a library that is needed is out of reach"),
)


def page() -> str:
    parts = ["## Exit codes\n", table(("code", "means"), EXIT_CODES), "`130`: stopped by Ctrl-C.\n"]
    for path, command in commands():
        parts.append(one(path, command))
    return "\n".join(parts)


def one(path: str, command: Any) -> str:
    context = command.make_context(f"toolselect {path}", [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ").replace("\n", " ")
    parts = [f"## `{path}`\n", _text(command.help), f"```text\n{' '.join(usage.split())}\n```\n"]
    rows = [_row(parameter, context) for parameter in command.params if not getattr(parameter, "hidden", False)]
    if rows:
        parts.append(table(("option", "default", "meaning"), rows))
    shown = [line for line, _ in examples(command)]
    if shown:
        parts.append("\n".join(["```text", *shown, "```"]) + "\n")
    return "\n".join(parts)


def _row(parameter: Any, context: Any) -> tuple[str, str, str]:
    metavar = parameter.metavar or ""
    if parameter.param_type_name == "argument":
        name = metavar or parameter.name.upper()
    else:
        kind = "" if parameter.is_flag else f" {metavar or parameter.display_type(context).strip('<>').upper()}"
        name = ", ".join(sorted(parameter.opts, key=len)) + kind
    default = parameter.default
    shown = "" if default in (None, False, "", ()) or callable(default) else code(default)
    required = "required" if parameter.required and parameter.param_type_name == "option" else shown
    return code(name), required, parameter.help or ""


def _text(help_text: str | None) -> str:
    """The help without the examples that a group puts into it."""
    return re.split(r"\n\s*\x08?\s*Examples:", (help_text or "").replace("\b", ""))[0].strip() + "\n"


@cache
def _root() -> Any:
    return typer.main.get_command(cli.build([]))


def commands() -> Iterator[tuple[str, Any]]:
    """All commands that do something, by their path, in the order of the alphabet."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        inside = getattr(command, "commands", None)
        if inside is None:
            yield " ".join(path), command
        for name, found in sorted((inside or {}).items()):
            yield from walk(found, (*path, name))

    return walk(_root(), ())


@cache
def options() -> frozenset[str]:
    """Every option of every command."""
    return frozenset(opt for _, command in commands() for p in command.params for opt in p.opts)


def examples(command: Any) -> list[tuple[str, str]]:
    """The lines of a command's examples, and each without what it says to the reader."""
    lines = [line.strip() for line in (command.epilog or "").replace("\b", "").splitlines()]
    shown = [line for line in lines if line and line != "Examples:"]
    return [(line, re.split(r"\s{3,}|\s+#\s", line)[0]) for line in shown]


def named(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words after `toolselect` name, and what they give to it."""
    command, rest = _root(), list(words)
    while (inside := getattr(command, "commands", None)) is not None:
        name = rest[0] if rest and rest[0] in inside else "set"  # `label RUN` is `label set RUN`
        rest = rest[1:] if rest and rest[0] == name else rest
        command = inside[name]
    return command, rest
