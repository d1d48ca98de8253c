"""Readers of single values: each turns what a file, a variable or a flag gives into a setting, or raises ValueError
with a text that says what would be right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Reader = Callable[[object], Any]


def setting(
    default: Any, read: Reader, *, variable: str | None = "", secret: bool = False, in_file: bool = True
) -> Any:
    """A dataclass field that is a setting.

    `variable`: its environment variable without the prefix; "" is TABLE_NAME in capitals, None is no variable. A
    `secret` is never shown. `in_file` False: it comes from the environment only, as files of settings are shared.
    """
    metadata = {"read": read, "variable": variable, "in_file": in_file}
    return field(default=default, repr=not secret, metadata=metadata)


def text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no text")
    return value


def port(value: object) -> int:
    shown = str(value)
    if isinstance(value, bool) or not shown.isdecimal() or int(shown) > 65535:
        raise ValueError(f"{value!r} is no port; write a number from 0 to 65535, 0 for a free one")
    return int(shown)


def names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
        raise ValueError(f"{value!r} is no list of attribute names")
    return tuple(value)


def texts(value: object) -> tuple[str, ...]:
    """A list of texts; in a variable or a flag they are parted by commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise ValueError(f"{value!r} is no list of texts")
    return tuple(value)


def endpoint(value: object) -> str:
    shown = text(value)
    if not shown.startswith(("http://", "https://")):
        raise ValueError(f"{value!r} is no address; write https://HOST/v1, the part before /chat/completions")
    return shown.rstrip("/").removesuffix("/chat/completions")


def address(value: object) -> str:
    shown = text(value)
    if not shown.startswith(("http://", "https://")):
        raise ValueError(f"{value!r} is no address; write http://HOST:PORT")
    return shown


def count(value: object) -> int:
    shown = str(value)
    if isinstance(value, bool) or not shown.isdecimal() or int(shown) > 10**9:
        raise ValueError(f"{value!r} is no whole number from 0")
    return int(shown)


def whole(low: int, high: int) -> Reader:
    def read(value: object) -> int:
        shown = str(value)
        if isinstance(value, bool) or not shown.isdecimal() or not low <= int(shown) <= high:
            raise ValueError(f"{value!r} is no whole number from {low} to {high}")
        return int(shown)

    return read


_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def size(value: object) -> int:
    """Bytes, as a number or with a unit: 20971520, "20 MiB"."""
    shown = str(value).strip().lower()
    digits = shown.rstrip("kmgtib ")
    unit = shown[len(digits) :].strip()
    if isinstance(value, bool) or not digits.isdecimal() or unit not in _UNITS:
        raise ValueError(f"{value!r} is no size; write bytes, or a number with KiB, MiB, GiB")
    return int(digits) * _UNITS[unit]


def seconds(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not 0 < number <= 86_400:
        raise ValueError(f"{value!r} is no number of seconds from 0 to 86400")
    return number


def switch(value: object) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False}
    found = known.get(str(value).lower())
    if found is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return found


@dataclass(frozen=True, slots=True)
class RedactRule:
    """One `[[redact.rule]]`: what `pattern` matches in values of the attributes `keys` (every value without `keys`, the
    whole value without `pattern`) is treated as `action` says.
    """

    keys: tuple[str, ...] = ()
    pattern: str = ""
    action: str = "mask"


ACTIONS = ("drop", "mask", "hash")


def redact_rules(value: object) -> tuple[RedactRule, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("is no list of tables; write [[redact.rule]] before each rule")
    return tuple(_redact_rule(item) for item in value)


def _redact_rule(item: dict[str, object]) -> RedactRule:
    unknown = sorted(item.keys() - {"keys", "pattern", "action"})
    if unknown:
        raise ValueError(f"unknown key {unknown[0]} in a rule; known: keys, pattern, action")
    rule = RedactRule(
        keys=texts(item.get("keys", [])),
        pattern=text(item["pattern"]) if "pattern" in item else "",
        action=one_of(*ACTIONS)(item.get("action", "mask")),
    )
    if not rule.keys and not rule.pattern:
        raise ValueError("a rule needs keys, a pattern, or both")
    return rule


@dataclass(frozen=True, slots=True)
class NotifyTarget:
    """One `[[monitor.notify]]`: a receiver of notifications, which of them are for it, and what its kind asks for.

    `severity`, `owner`: any of these; `labels`: all of them, equal or RE2 between slashes. Without a word: everything.
    `options` may hold secrets and is never shown.
    """

    name: str
    type: str
    severity: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    options: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)


def notify_targets(value: object) -> tuple[NotifyTarget, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("is no list of tables; write [[monitor.notify]] before each target")
    targets = tuple(_notify_target(item) for item in value)
    names = [target.name for target in targets]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise ValueError(f"two targets are called {doubled!r}; give each a name of its own")
    return targets


def _notify_target(item: dict[str, Any]) -> NotifyTarget:
    if "type" not in item:
        raise ValueError("a target needs a type, say webhook")
    own = ("name", "type", "severity", "owner", "labels")
    kind, labels = text(item["type"]), item.get("labels", {})
    if not isinstance(labels, dict) or not all(isinstance(v, str) for v in labels.values()):
        raise ValueError('labels of a target are a table of texts: {tool = "refund"}')
    return NotifyTarget(
        name=text(item.get("name", kind)),
        type=kind,
        severity=texts(item.get("severity", [])),
        owner=texts(item.get("owner", [])),
        labels=tuple(labels.items()),
        options={name: given for name, given in item.items() if name not in own},
    )


def one_of(*allowed: str) -> Reader:
    def read(value: object) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
        return str(value)

    return read
