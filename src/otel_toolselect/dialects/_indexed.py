"""Attributes that flatten a list into numbered keys: `prefix.0.role`, `prefix.10.tool_calls.2.name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DIGITS = 9  # of a place in a list: `int` refuses thousands


def unflatten(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """The list below a prefix, as nested dicts and lists. Numbers order as numbers: 10 after 9, not after 1."""
    start = prefix + "."
    root: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(start):
            _put(root, key[len(start) :].split("."), value)
    built = _lists(root)
    return built if isinstance(built, list) else []


def _put(node: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1]:
        child = node.get(step)
        if not isinstance(child, dict):
            child = {} if child is None else {"": child}  # `a.b` and `a.b.c` both set: keep both
            node[step] = child
        node = child
    leaf = node.get(path[-1])
    if isinstance(leaf, dict):
        leaf[""] = value
    else:
        node[path[-1]] = value


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(k.isdecimal() and len(k) <= _DIGITS for k in node):
        return [_lists(node[k]) for k in sorted(node, key=int)]
    return {k: _lists(v) for k, v in node.items()}
