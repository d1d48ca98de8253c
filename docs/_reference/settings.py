"""Every setting: from the tables of `config`, their docstrings, and the options of the commands."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from docs._reference import commands
from docs._reference._markdown import cell, code, prose, table

from otel_toolselect import config
from otel_toolselect.config import BY_VARIABLE, CONFIG_VARIABLE, KEYS, Key, sections

HEAD = ("setting", "meaning")


def page() -> str:
    parts = []
    for name in dict.fromkeys(key.table for key in KEYS):
        keys = [key for key in KEYS if key.table == name]
        parts += [f"## `[{name}]`" if name else "## At the top", "", about(name), ""]
        parts += [table(HEAD, [row(key) for key in keys])]
    variable = f"`{CONFIG_VARIABLE}` is the path of the file; without it `{config.FILE_NAME}` in the working directory."
    return "\n".join([variable, "", *parts])


def row(key: Key) -> tuple[str, ...]:
    ways = [code(key.variable or ""), flag(key), "" if key.in_file else "not in the file"]
    facts = f"Default {default(key)}. {', '.join(way for way in ways if way)}"
    return code(key.name), f"{meaning(key)}<br>{facts}"


def about(name: str) -> str:
    text = prose(inspect.getdoc(_section(name) if name else config.Settings))
    return re.sub(r"docs/([\w-]+)\.md", _linked, text)


def _linked(page: re.Match[str]) -> str:
    there = (Path(__file__).parents[1] / f"{page[1]}.md").exists()
    return f"[{page[1]}](../{page[1]}.md)" if there else page[0]


def default(key: Key) -> str:
    value = getattr(_instance(key.table), key.name)
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, tuple):
        return code("[" + ", ".join(f'"{one}"' for one in value) + "]")
    if isinstance(value, int) and value >= 1024 and value % 1024 == 0 and key.name.endswith("bytes"):
        return code(_size(value))
    return code(f'"{value}"') if isinstance(value, str) else code(value)


def flag(key: Key) -> str:
    """`--name` of the commands that take this setting."""
    name = f"--{(key.variable or '').removeprefix(config.PREFIX).lower().replace('_', '-')}"
    found = name if key.variable and name in commands.options() else ALIASES.get(key.path, "")
    return code(found)


ALIASES = {"live.suites": "--suite", "live.rules": "--rules"}
"""Options of `serve` that are called otherwise than their settings."""


def meaning(key: Key) -> str:
    """What stands below the field; else the sentences of its table's docstring that name it."""
    own = _below_fields().get((key.table, key.name))
    if own:
        return cell(own)
    text = " ".join(about(key.table).split())
    sentences = re.split(r"(?<=[.;])\s+(?=[A-Z`])", text)
    return cell(" ".join(s for s in sentences if f"`{key.name}`" in s))


def _size(value: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value % factor == 0:
            return f'"{value // factor} {unit}"'
    return str(value)


def _section(name: str) -> type:
    return type(_instance(name))


def _instance(name: str) -> Any:
    settings = config.Settings()
    return getattr(settings, name) if name else settings


@cache
def _below_fields() -> dict[tuple[str, str], str]:
    """Texts that stand below fields of the sections, by (table, name)."""
    tables = {type(getattr(config.Settings(), f.name)).__name__: f.name for f in fields(config.Settings)}
    found: dict[tuple[str, str], str] = {}
    for node in ast.parse(inspect.getsource(sections)).body:
        if isinstance(node, ast.ClassDef) and node.name in tables:
            for item, after in zip(node.body, node.body[1:], strict=False):
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and _is_text(after):
                    found[tables[node.name], item.target.id] = after.value.value  # type: ignore[attr-defined]
    return found


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def undocumented() -> list[str]:
    """Settings without a meaning, which a test wants to be none."""
    return [key.path for key in KEYS if not meaning(key)] + [v for v in BY_VARIABLE if not v]
