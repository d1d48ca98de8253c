"""Shapes of common secrets and personal data, by the name that `redact.patterns` uses.

A shape that is checked further gives the parts of a match that are meant: digits are a card only with its check digit.
Names and postal addresses have no shape: deny the attributes that hold them, or drop content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Parts = Callable[[str], list[tuple[int, int]]]
"""The parts of a matched text, as positions in it, that are meant."""
_GROUPS = re.compile(r"[0-9]+")
_CARD_GROUPS = ((4, 4, 4, 4), (4, 6, 5), (4, 6, 4))


@dataclass(frozen=True, slots=True)
class Shape:
    pattern: str
    parts: Parts | None = None


def _cards(text: str) -> list[tuple[int, int]]:
    """Payment card numbers in a run of digits: in one piece, or grouped as on the card (ISO/IEC 7812-1)."""
    groups = [(m.start(), m.end()) for m in _GROUPS.finditer(text)]
    found: list[tuple[int, int]] = []
    i = 0
    while i < len(groups):
        taken = next((n for n in _candidates(groups, i) if _is_card(text[groups[i][0] : groups[i + n - 1][1]])), 0)
        if taken:
            found.append((groups[i][0], groups[i + taken - 1][1]))
        i += taken or 1
    return found


def _candidates(groups: list[tuple[int, int]], i: int) -> list[int]:
    """How many groups from here on could be one number, the most first."""
    sizes = tuple(end - start for start, end in groups[i : i + 5])
    counts = [5] if sizes[:4] == (4, 4, 4, 4) and len(sizes) == 5 and sizes[4] <= 3 else []
    counts += [len(form) for form in _CARD_GROUPS if sizes[: len(form)] == form]
    return [*counts, 1]


def _is_card(text: str) -> bool:
    digits = [int(ch) for ch in text if ch.isdigit()]
    return 13 <= len(digits) <= 19 and 2 <= digits[0] <= 6 and _luhn(digits)


def _luhn(digits: list[int]) -> bool:
    doubled = (2 * d - 9 if d > 4 else 2 * d for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _ibans(text: str) -> list[tuple[int, int]]:
    """The longest beginning whose check digits are right (ISO 13616: 97 leaves 1); up to 34 characters."""
    for end in range(len(text), 14, -1):
        code = text[:end].replace(" ", "").upper()
        if text[end - 1] != " " and 15 <= len(code) <= 34 and _is_iban(code):
            return [(0, end)]
    return []


def _is_iban(code: str) -> bool:
    return int("".join(str(int(ch, 36)) for ch in code[4:] + code[:4])) % 97 == 1


SHAPES: dict[str, Shape] = {
    "api_key": Shape(
        r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*|\bgh[pousr]_[A-Za-z0-9]{20,}"
        r"|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bxox[abeprs]-[A-Za-z0-9-]{10,}"
        r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}|\bya29\.[A-Za-z0-9._-]{20,}"
        r"|\bnpm_[A-Za-z0-9]{30,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    ),
    "bearer": Shape(r"(?i)\b(?:bearer|basic)\s+[a-z0-9._~+/-]{8,}=*"),
    "card": Shape(r"(?:\b|_)[2-6](?:[ -]?[0-9]){12,}(?:\b|_)", _cards),
    "email": Shape(r"[\pL\pN._%+'-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+"),
    "iban": Shape(r"(?i)\b[a-z]{2}[0-9]{2}(?: ?[a-z0-9]){11,30}", _ibans),
    "ip": Shape(
        r"\b(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\b"
        r"|(?i)\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b|\b(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}\b"
    ),
    "jwt": Shape(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"),
    "password": Shape(r"(?i)\b(?:password|passwd|pwd|secret|api_?key|access_?token)\b\s*[=:]\s*[^\s\"',;&]+"),
    "phone": Shape(r"\+[0-9](?:[ ()/.-]{0,2}[0-9]){6,14}|\(?\b0[0-9]{1,4}\)?(?:[ /.-][0-9]{2,}){1,4}\b"),
    "private_key": Shape(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-[^-])*(?:-----END [A-Z ]*PRIVATE KEY-----)?"),
    "ssn": Shape(r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
    "url_password": Shape(r"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@"),
}
