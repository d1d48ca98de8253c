"""Options of a target, read one by one: a wrong, missing or unknown one is a UsageError that names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from otel_toolselect.errors import UsageError

T = TypeVar("T")
TIMEOUT_S = 10.0
LONGEST_TIMEOUT_S = 120.0


class Options:
    """What a target gives. Every option is asked for by name, then `done` refuses what nobody asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._known: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        return self._read(name, default, lambda v: isinstance(v, str) and bool(v.strip()), "a text").strip()

    def needed(self, name: str, example: str) -> str:
        found = self.text(name)
        if not found:
            raise UsageError(f"{name} is missing; write {name} = {example}")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, or one text with white space between them, as an environment variable or a file has it."""
        value: Any = self._read(name, (), _is_texts, "a text or a list of texts")
        parts: Sequence[str] = value.split() if isinstance(value, str) else value
        return tuple(part.strip() for part in parts)

    def switch(self, name: str) -> bool:
        return bool(self._read(name, False, lambda v: isinstance(v, bool), "true or false"))

    def seconds(self, name: str, default: float, longest: float) -> float:
        def right(value: object) -> bool:
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= longest

        return float(self._read(name, default, right, f"a number of seconds from 0 to {longest:g}"))

    def timeout(self) -> float:
        return self.seconds("timeout", TIMEOUT_S, LONGEST_TIMEOUT_S)

    def table(self, name: str) -> dict[str, str]:
        return dict(self._read(name, {}, _is_table, "a table of texts"))

    def done(self) -> None:
        unknown = sorted(self._given.keys() - set(self._known))
        if unknown:
            raise UsageError(f"unknown option {unknown[0]}; known: {', '.join(sorted(self._known))}")

    def _read(self, name: str, default: T, right: Callable[[Any], bool], wanted: str) -> T:
        self._known.append(name)
        if name not in self._given:
            return default
        value: T = self._given[name]
        if not right(value):
            raise UsageError(f"{name} is not {wanted}")  # the value may be a secret
        return value


def address(name: str, url: str) -> str:
    """An HTTP address without a slash at its end. Raises UsageError on anything else, without showing it."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{name} is no address; write http://HOST:PORT or https://HOST/PATH")
    return url.rstrip("/")


def _is_texts(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) and v.strip() for v in value)


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
