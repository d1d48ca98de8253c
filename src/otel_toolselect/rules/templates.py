"""Annotations of alerts: texts with `{name}` in them and nothing more: no attributes, no indices, no formats, no code.

Names are those of FIELDS, what the alert splits `by`, and its labels. A brace is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter

FIELDS = (
    "alert",
    "kind",
    "signal",
    "value",
    "says",
    "at",
    "since",
    "window_start",
    "window_end",
    "severity",
    "owner",
    "runbook",
)


def names_in(template: str) -> Iterator[str]:
    """Raises ValueError, which names the culprit, on anything but `{name}`."""
    for _, name, form, conversion in Formatter().parse(template):
        if name is None:
            continue
        if form or conversion or not name or not all(c.isalnum() or c in "_-" for c in name):
            raise ValueError(f"{{{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}}}")
        yield name


def filled(template: str, values: Mapping[str, str]) -> str:
    """The text with its names replaced, each once: what is put in is not read again."""
    parts: list[str] = []
    for text, name, _, _ in Formatter().parse(template):
        parts.append(text)
        if name is not None:
            parts.append(values.get(name, ""))
    return "".join(parts)
