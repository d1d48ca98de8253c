"""Scalars of OTLP/JSON: ids, 64-bit integers, enums, doubles, bytes.

Sources: OTLP specification, "JSON Protobuf Encoding" (ids are hex, any case; enums are integers only) and
the proto3 JSON mapping (64-bit integers are strings, numbers are accepted; null is the default; NaN and
infinities are strings). What senders do wrong in the wild and can be put right without guessing is put
right with a warning.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from otel_toolselect.otlp.notes import BadField, Notes

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_NAMED_DOUBLES = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def type_name(value: object) -> str:
    """What JSON calls the type of a value; for messages, so that they never show the value itself."""
    if value is None:
        return "null"
    for kinds, name in (
        (bool, "a boolean"),
        (str, "a string"),
        ((int, float, Decimal), "a number"),
        (list, "a list"),
        (dict, "an object"),
    ):
        if isinstance(value, kinds):
            return name
    return type(value).__name__


def identifier(value: Any, field: str, nbytes: int, notes: Notes) -> str:
    """Lower-case hex of an id of `nbytes` bytes; "" for none or all zeros. Wrong length or alphabet:
    BadField.

    Base64 of exactly the right length is an exporter that used plain proto3 JSON: converted, with a
    warning. It cannot be taken for hex (24 and 12 characters, padded, against 32 and 16).
    """
    if value is None or value == "":
        return ""
    digits = nbytes * 2
    if not isinstance(value, str):
        raise BadField(field, f"must be {digits} hex digits, not {type_name(value)}")
    if len(value) == digits and _HEX.fullmatch(value):
        text = value.lower()
    else:
        raw = _base64_id(value, nbytes)
        if raw is None:
            raise BadField(field, f"must be {digits} hex digits, got {len(value)} characters")
        notes.warn(f"{field} was base64, converted to hex")
        text = raw.hex()
    return text if text.strip("0") else ""


def _base64_id(value: str, nbytes: int) -> bytes | None:
    if len(value) != (nbytes + 2) // 3 * 4 or not value.endswith("="):
        return None
    try:
        raw = base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == nbytes else None


def integer(value: Any, field: str, low: int = INT64_MIN, high: int = INT64_MAX) -> int:
    """An integer with every digit, whether written as a string or as a number; never by way of a double."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal)):
        raise BadField(field, f"must be an integer, not {type_name(value)}")
    if isinstance(value, str):
        number = _integer_of_text(value, field)
    elif isinstance(value, Decimal):
        number = _integer_of_decimal(value, field)
    else:
        number = value
    if not low <= number <= high:
        raise BadField(field, "is out of range")
    return number


def _integer_of_text(value: str, field: str) -> int:
    if _INTEGER.fullmatch(value):
        return int(value)
    try:
        return _integer_of_decimal(Decimal(value), field) if len(value) <= 40 and value.isascii() else int("")
    except (InvalidOperation, ValueError):
        raise BadField(field, "must be an integer, not this string") from None


def _integer_of_decimal(value: Decimal, field: str) -> int:
    # the range first: int() of 1e999999 would build a million digits; abs() would raise for 1e9999999
    if not value.is_finite() or value.copy_abs() >= 2**65:
        raise BadField(field, "is out of range")
    if value != value.to_integral_value():
        raise BadField(field, "must be an integer, not a fraction")
    return int(value)


def time_ns(value: Any, field: str) -> int:
    """Nanoseconds since the epoch, 0 = unset.

    The bound is the store's: signed 64 bits end in the year 2262.
    """
    return integer(value, field, 0)


def enum(value: Any, field: str, names: Mapping[str, int], prefix: str, notes: Notes) -> int:
    """An enum's integer. Names are forbidden by OTLP but never lose a span here; unknown numbers become 0."""
    known = names.values()
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        number = names.get(value.upper().removeprefix(prefix), -1)
        if number < 0:
            raise BadField(field, "must be one of the integers of its enum, not this name")
        notes.warn(f"{field} was an enum name, read as its number")
        return number
    number = integer(value, field)
    if number not in known:
        notes.warn(f"{field} was no known enum value, read as unset")
        return 0
    return number


def double(value: Any, field: str) -> float:
    if isinstance(value, str):
        named = _NAMED_DOUBLES.get(value)
        if named is not None:
            return named
        try:
            return float(Decimal(value))
        except (InvalidOperation, ValueError, OverflowError):
            raise BadField(field, "must be a number, not this string") from None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise BadField(field, f"must be a number, not {type_name(value)}")
    try:
        return float(value)
    except OverflowError:
        raise BadField(field, "is out of range") from None


def boolean(value: Any, field: str) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise BadField(field, f"must be true or false, not {type_name(value)}")


def text(value: Any, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadField(field, f"must be a string, not {type_name(value)}")
    return value


def blob(value: Any, field: str) -> bytes:
    """Base64, standard or URL-safe, with or without padding, as the proto3 JSON mapping accepts it."""
    if not isinstance(value, str):
        raise BadField(field, f"must be base64, not {type_name(value)}")
    plain = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise BadField(field, "must be base64") from None
