"""Personal data and secrets out of a text before it becomes a test case (R19), by shape.

E-mail addresses, telephone numbers, payment cards (that pass the Luhn check), IBANs, IP addresses, web addresses with a
user or a query, and long tokens are replaced by harmless ones of the same shape, the same value always by the same, so
that a prompt reads as before and two mentions of one thing stay one. Names and postal addresses have no shape: a person
reads the draft. What was replaced is counted by kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import re2

_CARD_DIGITS = (13, 19)


@dataclass(slots=True)
class Redactor:
    """One per draft: it remembers what it gave for what."""

    counts: Counter[str] = field(default_factory=Counter)
    _given: dict[str, str] = field(default_factory=dict)

    def clean(self, text: str) -> str:
        for kind, pattern, make in KINDS:
            text = pattern.sub(partial(self._replaced, kind, make), text)
        return text

    def _replaced(self, kind: str, make: Callable[[str, int], str | None], match: Any) -> str:
        value: str = match.group(0)
        if value in self._given.values():
            return value
        if value not in self._given:
            made = make(value, self.counts[kind] + 1)
            if made is None:
                return value
            self.counts[kind] += 1
            self._given[value] = made
        return self._given[value]


def _mail(value: str, n: int) -> str:
    return f"user{n}@example.com"


def _web(value: str, n: int) -> str:
    return f"https://example.com/{n}"


def _iban(value: str, n: int) -> str:
    return f"XX00 TEST {n:04d}"


def _card(value: str, n: int) -> str | None:
    digits = [int(d) for d in value if d.isdigit()]
    low, high = _CARD_DIGITS
    if not low <= len(digits) <= high or sum(_luhn(d, i) for i, d in enumerate(reversed(digits))) % 10:
        return None
    return "4111 1111 1111 1111"


def _luhn(digit: int, place: int) -> int:
    if place % 2 == 0:
        return digit
    return 2 * digit - 9 if digit > 4 else 2 * digit


def _address(value: str, n: int) -> str:
    return f"192.0.2.{n % 255}"


def _phone(value: str, n: int) -> str | None:
    digits = sum(ch.isdigit() for ch in value)
    return f"+1 202 555 {n % 100 + 100:04d}" if 8 <= digits <= 15 else None


def _token(value: str, n: int) -> str | None:
    """Long words that mix letters and digits, as keys do; an id of a few letters and digits stays."""
    mixed = any(ch.isdigit() for ch in value) and any(ch.isalpha() for ch in value)
    return f"TOKEN{n:03d}" if mixed else None


KINDS: tuple[tuple[str, Any, Callable[[str, int], str | None]], ...] = (
    ("web address", re2.compile(r"https?://(?:[^\s/@]+@|[^\s?]+\?)[^\s]*[^\s,.;:)]"), _web),
    ("e-mail", re2.compile(r"[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+"), _mail),
    ("IBAN", re2.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"), _iban),
    ("card", re2.compile(r"\b\d(?:[ -]?\d){12,18}\b"), _card),
    ("IP address", re2.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b"), _address),
    ("telephone", re2.compile(r"(?:\+|\b00|\b0)\d[\d ()/.-]{6,18}\d\b"), _phone),
    ("token", re2.compile(r"\b[A-Za-z0-9_]{24,}\b"), _token),
)
