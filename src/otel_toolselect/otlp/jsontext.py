"""JSON text to Python values, with every digit kept and every failure a DecodeError that names the line."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.values import whole

# Decimal, so that an integer that somebody wrote as 9007199254740993.0 or 1.793e18 keeps its digits
_decoder = json.JSONDecoder(parse_float=Decimal)


class CutShortError(DecodeError):
    """The text ends before the value does: truncated, or more lines belong to it. `pos` counts characters."""


def as_text(body: bytes, *, where: str) -> str:
    """UTF-8 (RFC 8259 section 8.1), a byte order mark tolerated."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise DecodeError(f"not UTF-8 text at byte {error.start} (line {line})", where=where) from None


def loads(text: str, *, where: str, first_line: int = 0) -> Any:
    """The one value that `text` holds. `first_line`: see `value_at`."""
    value, end = value_at(text, skip_space(text, 0), where=where, first_line=first_line)
    rest = skip_space(text, end)
    if rest < len(text):
        line, column = position(text, rest)
        where, place = _place(where, first_line, line, column)
        raise DecodeError(f"more text after the JSON value ({place})", where=where)
    return value


def value_at(text: str, start: int, *, where: str, first_line: int = 0) -> tuple[Any, int]:
    """The value that begins at `start`, and the position after it; surrogates without a partner are replaced.

    With `first_line`, `where` is a path and errors say "path:line", counted from there.
    """
    try:
        value, end = _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _failure(error, text, where, first_line) from None
    except RecursionError:
        raise DecodeError("JSON nested too deeply", where=_at(where, first_line)) from None
    except (ValueError, InvalidOperation):  # more digits than any number here can have
        raise DecodeError("a JSON number with too many digits", where=_at(where, first_line)) from None
    if text.find("\\ud", start, end) >= 0 or text.find("\\uD", start, end) >= 0:
        value = whole(value)
    return value, end


def _at(where: str, line: int) -> str:
    return f"{where}:{line}" if line else where


def _place(where: str, first_line: int, line: int, column: int) -> tuple[str, str]:
    if first_line:
        return _at(where, first_line + line - 1), f"column {column}"
    return where, f"line {line}, column {column}"


def _failure(error: json.JSONDecodeError, text: str, where: str, first_line: int) -> DecodeError:
    end = len(text.rstrip())
    line, column = (error.lineno, error.colno) if error.pos < end else position(text, end)
    where, place = _place(where, first_line, line, column)
    if error.pos >= end:
        return CutShortError(f"the JSON text ends too early ({place}): truncated?", where=where)
    if error.msg.startswith("Unterminated string"):  # a string holds no line end: more lines cannot help
        return DecodeError(f"the JSON text ends within the string that begins at {place}: truncated?", where=where)
    return DecodeError(f"not JSON: {error.msg.lower()} ({place})", where=where)


def skip_space(text: str, start: int) -> int:
    """The position of the next character that is not JSON white space."""
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    return start


def position(text: str, at: int) -> tuple[int, int]:
    """Line and column of a position, both from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
