"""JSON values: equality, canonical text, hashes (design section 4).

Arguments and results are JSON values. Two are equal when JSON Schema says so: 1 equals 1.0, true is not 1, big
integers are exact, the order of members is irrelevant, and a string equals only the same code points.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any, TypeAlias, TypeVar

JSON: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
Number = TypeVar("Number", int, float)


def json_equal(a: JSON, b: JSON) -> bool:
    """JSON Schema equality of two values."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(json_equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(json_equal(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and a == b


def _plain(value: Any) -> Any:
    """The value with every number in the one spelling that its equality class has, and only JSON types."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return int(value) if value.is_integer() else value
        return str(value)  # NaN and infinities are not JSON; a name is kept rather than nothing
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {k if type(k) is str else str(k): v if type(v) in _PLAIN else _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return str(value)


_PLAIN = frozenset({str, int, bool, type(None)})


def canonical(value: JSON) -> str:
    """The one JSON text of a value: equal values (see `json_equal`) have equal texts. Sorted, compact, not escaped."""
    return _write(_plain(value))


def writer(*, sort_keys: bool, default: Callable[[Any], Any] | None = None) -> Callable[[Any], str]:
    """What turns values into compact JSON text, not escaped: as `json.dumps`, whose encoder makes its C part anew for
    each value, which takes longer than writing a small one.
    """
    if c_make_encoder is None:  # an interpreter without it
        return json.JSONEncoder(sort_keys=sort_keys, ensure_ascii=False, separators=(",", ":"), default=default).encode
    encode = c_make_encoder(None, default or _refuse, encode_basestring, None, ":", ",", sort_keys, False, True)
    return lambda value: "".join(encode(value, 0))


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is no JSON")


_write = writer(sort_keys=True)
quoted: Callable[[str], str] = encode_basestring
"""A text as JSON, not escaped beyond what JSON wants."""


def digest(value: JSON) -> str:
    """`sha256:` and 64 hex digits over the canonical text."""
    text = canonical(value).encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(text).hexdigest()


def counted(value: Number) -> Number | None:
    """A count or an amount; None where it is NaN or beyond the 64 bits that a store keeps: nobody counted so much."""
    return value if -(2**63) <= value < 2**63 else None


def whole(value: Any) -> Any:
    """The value with lone surrogates replaced by U+FFFD: they are no characters and cannot be stored as
    UTF-8.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole(v) for v in value]
    if isinstance(value, dict):
        return {whole(k): whole(v) for k, v in value.items()}
    return value
