"""Where a value can have come from: texts and results, prepared for look-up (R31, R34).

A value *occurs* in a source when one of these holds; all of it is deterministic and blind to Unicode form, case and
spacing:

- its text stands there between word boundaries ("12" is not in "2012", "A-1001" is in "order A-1001!");
- it is a number, or a text that is one, and the source holds an equal number in any common spelling ("79.90", "79,90",
  "1,234.5", "1 234");
- it has five letters and digits or more and stands there but for punctuation ("+49 30 1234567" and "+49301234567");
- it has several words and each of them stands there.

Null, booleans and empty texts come from nowhere in particular and always occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from otel_toolselect.model.values import JSON
from otel_toolselect.rules.normal import normal

# own patterns, in which every step is decided by the next character: `re` cannot back-track, and is quicker to call
_NUMBER = re.compile(r"\d+(?:[.,'’ ]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:[-_.@][^\W_]+)*")
ID = re.compile(r"[^\W_]+(?:[-_#/][^\W_]+)*")
_PUNCTUATION = re.compile(r"[\W_]+")
_NINES = str.maketrans("012345678", "999999999")
Leaf: TypeAlias = "bool | int | float | str | None"
_BARE = 5  # letters and digits from which on punctuation may differ
_DEPTH = 40  # of results; deeper members are not looked at


def leaves(value: Any) -> list[tuple[str, Leaf]]:
    """(member name, scalar) of a JSON value, in its order; elements of a list bear the list's name."""
    found: list[tuple[str, Leaf]] = []
    _collect(value, "", 0, found)
    return found


def _collect(value: Any, key: str, depth: int, found: list[tuple[str, Leaf]]) -> None:
    if value is None or isinstance(value, (str, int, float)):
        found.append((key, value))
    elif depth >= _DEPTH:
        return
    elif isinstance(value, dict):
        for name, member in value.items():
            _collect(member, name, depth + 1, found)
    elif isinstance(value, list):
        for item in value:
            _collect(item, key, depth + 1, found)


def spelled(value: JSON) -> str:
    """A scalar as a text would show it: 79.0 as 79."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def readings(token: str) -> set[float]:
    """What a number in a text may mean: decimal point or decimal comma, thousands apart or not."""
    found = set()
    for thousands, point in ((",'’ ", "."), (".'’ ", ",")):
        plain = token
        for mark in thousands:
            plain = plain.replace(mark, "")
        try:
            found.add(float(plain.replace(point, ".")))
        except ValueError:
            continue
    return found


def number_tokens(text: str) -> list[str]:
    """The numbers of a text, as written. `1 234` is one token beside `1` and `234`."""
    found: list[str] = []
    for token in _NUMBER.findall(text):
        found.append(token)
        if " " in token or ", " in token:
            found += token.split()
    return found


def has_token(text: str, phrase: str) -> bool:
    """Whether a normal phrase stands in a normal text and touches no letter or digit at either end."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        starts = at == 0 or not (text[at - 1].isalnum() and phrase[0].isalnum())
        if starts and (end == len(text) or not (text[end].isalnum() and phrase[-1].isalnum())):
            return True
        at = text.find(phrase, at + 1)
    return False


def id_shape(text: str) -> str | None:
    """`a-9999` of `A-1001`; None for what is no id: an id has letters, two digits or more, and no space."""
    if len(text) > 40:
        return None
    shape = normal(text).translate(_NINES)
    digits = shape.count("9")
    return shape if 2 <= digits < len(shape) and ID.fullmatch(shape) else None


class Source:
    """Some texts, or the scalars of some results, as one thing to look values up in."""

    __slots__ = ("_bare", "_numbers", "text")

    def __init__(self, texts: Iterable[str]) -> None:
        # NUL is no space, no letter and no digit: nothing is found across two texts
        self.text = normal("\0".join(texts))
        self._numbers: set[float] | None = None
        self._bare: str | None = None

    @staticmethod
    def of_values(values: Iterable[JSON]) -> Source:
        return Source(spelled(leaf) for value in values for _, leaf in leaves(value) if leaf is not None)

    @property
    def numbers(self) -> set[float]:
        if self._numbers is None:
            self._numbers = {n for token in number_tokens(self.text) for n in readings(token)}
        return self._numbers

    def holds(self, value: bool | int | float | str | None) -> bool:
        if value is None or isinstance(value, bool):
            return True
        if isinstance(value, (int, float)):
            return abs(value) in self.numbers
        phrase = normal(value)
        return not phrase or has_token(self.text, phrase) or self._loosely(phrase)

    def _loosely(self, phrase: str) -> bool:
        number = _NUMBER.fullmatch(phrase)
        if number is not None and readings(phrase) & self.numbers:
            return True
        bare = _PUNCTUATION.sub("", phrase)
        if len(bare) >= _BARE and any(c.isdigit() for c in bare):
            if self._bare is None:
                self._bare = _PUNCTUATION.sub("", self.text)
            if bare in self._bare:
                return True
        words = _WORD.findall(phrase)
        return len(words) > 1 and all(has_token(self.text, w) for w in words)
