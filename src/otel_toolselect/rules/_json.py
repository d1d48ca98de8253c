"""JSON text -> nodes with positions: what `_yaml` makes of the same text, at a tenth of the time.

JSON is YAML, so nothing depends on this reader: it declines (None) whatever is not plain JSON, and whatever would be a
problem (a key that stands twice, too deep, too many values), and the YAML reader then reads the text and says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeAlias

from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, plain_value
from otel_toolselect.rules._yaml import MAX_DEPTH, MAX_NODES

# What YAML does not print, or takes for the end of a line, is left to it.
_PLAIN = r"[^\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
# every alternative is decided by its first character, so that `re` cannot back-track
_TOKEN = re.compile(
    rf'[ \t\r]*(?:(\n)|("{_PLAIN}*(?:\\["\\/bfnrtu]{_PLAIN}*)*")|([{{}}\[\],:])|'
    r"(-?[0-9][0-9.eE+-]*|true|false|null))"
)
_KINDS = ("", "", "text", "mark", "plain")
Lexeme: TypeAlias = "tuple[str, str, int, int]"


class _Declined(Exception):
    """The YAML reader is to read this text."""


def read_json(text: str) -> Node | None:
    """The one value of a JSON text; None when the text is for the YAML reader."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return _Reader(text).read()
    except _Declined:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.line, self.start = 1, 0
        self.count = 0

    def read(self) -> Node:
        tokens = self._tokens()
        root = self._value(next(tokens), tokens, 0)
        if next(tokens)[0]:
            raise _Declined
        return root

    def _tokens(self) -> Iterator[Lexeme]:
        """(kind, text, line, column); the kind "" is the end."""
        position, end, text = 0, len(self.text), self.text
        match = _TOKEN.match
        while position < end:
            found = match(text, position)
            if found is None:
                if text[position:].strip():
                    raise _Declined
                break
            position = found.end()
            index = found.lastindex or 0
            if index == 1:
                self.line, self.start = self.line + 1, position
                continue
            yield _KINDS[index], found.group(index), self.line, found.start(index) - self.start + 1
        while True:
            yield "", "", self.line, 1

    def _value(self, token: Lexeme, tokens: Iterator[Lexeme], depth: int) -> Node:
        kind, text, line, column = token
        self.count += 1
        if self.count > MAX_NODES or depth > MAX_DEPTH - 1:
            raise _Declined
        if kind == "text":
            value = _unquoted(text)
            return Scalar(value, value, False, line, column)
        if kind == "plain":
            return Scalar(plain_value(text), text, True, line, column)
        if text == "{":
            return self._fields(tokens, line, column, depth)
        if text == "[":
            return self._items(tokens, line, column, depth)
        raise _Declined

    def _items(self, tokens: Iterator[Lexeme], line: int, column: int, depth: int) -> Items:
        found: list[Node] = []
        token = next(tokens)
        if token[1] == "]" and token[0] == "mark":
            return Items((), line, column)
        while True:
            found.append(self._value(token, tokens, depth + 1))
            if not _more(next(tokens), "]"):
                return Items(tuple(found), line, column)
            token = next(tokens)

    def _fields(self, tokens: Iterator[Lexeme], line: int, column: int, depth: int) -> Fields:
        found: list[tuple[Scalar, Node]] = []
        names: set[str] = set()
        token = next(tokens)
        if token[1] == "}" and token[0] == "mark":
            return Fields((), line, column)
        while True:
            kind, text, at, place = token
            if kind != "text":
                raise _Declined
            name = _unquoted(text)
            if name in names or next(tokens)[:2] != ("mark", ":"):
                raise _Declined
            names.add(name)
            found.append((Scalar(name, name, False, at, place), self._value(next(tokens), tokens, depth + 1)))
            if not _more(next(tokens), "}"):
                return Fields(tuple(found), line, column)
            token = next(tokens)


def _more(token: Lexeme, close: str) -> bool:
    """Whether a comma follows; False at the closing mark."""
    if token[0] != "mark" or token[1] not in (",", close):
        raise _Declined
    return token[1] == ","


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text[1:-1]
    value = str(json.loads(text))
    if "\\u" in text and any("\ud800" <= c <= "\udfff" for c in value):
        raise _Declined  # half a character, for which YAML has its own words
    return value
