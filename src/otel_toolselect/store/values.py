"""Attribute values as text and back, without loss.

The Collector's ClickHouse exporter keeps every attribute as text in a `Map`. So do we, in the same spelling, and a
*shape* beside it records the type of each value that was not a string. A row that a Collector wrote has no shape: its
values come back as the strings that they are in the table.

A shape is JSON text: section -> key -> code, with empty parts left out; `""` when all values are strings. Sections:
`s` attributes of the span or log record, `r` of the resource, `e` and `l` of events and links (by position), `b` the
body of a log record. Shapes repeat from row to row, so the column is LowCardinality.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from otel_toolselect.model.spans import AttrValue

Codes: TypeAlias = dict[str, str]
"""Key -> type code of the values that are not strings."""

INT, DOUBLE, BOOL, NULL, BYTES, JSON_TEXT, TAGGED = "i", "d", "b", "n", "x", "j", "t"


def encode(value: AttrValue) -> tuple[str, str]:
    """The text of a value that is not a string, and its type code."""
    if value is None:
        return "", NULL
    if isinstance(value, bool):
        return ("true" if value else "false"), BOOL
    if isinstance(value, int):
        return str(value), INT
    if isinstance(value, float):
        # the exporter writes 1 for 1.0; repr is exact for the rest
        return repr(value).removesuffix(".0"), DOUBLE
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii"), BYTES
    if _holds_bytes(value):
        return _dump(_tag(value)), TAGGED
    return _dump(value), JSON_TEXT


def decode(text: str, code: str) -> Any:
    """The value of a text and a code from `encode`; an unknown code leaves the text as it is."""
    decoder = _DECODERS.get(code)
    return text if decoder is None else decoder(text)


def encode_items(attributes: Mapping[str, AttrValue], keys: list[str], texts: list[str]) -> Codes:
    """Append all keys and texts to the two lists; returns the codes of those that are not strings."""
    codes: Codes = {}
    for key, value in attributes.items():
        keys.append(key)
        if isinstance(value, str):
            texts.append(value)
        else:
            text, codes[key] = encode(value)
            texts.append(text)
    return codes


def decode_items(attributes: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
    """Put the types back, in place."""
    for key, code in codes.items():
        text = attributes.get(key)
        if text is not None:
            attributes[key] = decode(text, code)
    return attributes


def shape_text(sections: Mapping[str, Codes | str], lists: Mapping[str, Sequence[Codes]]) -> str:
    """The shape of a row: `sections` for `s`, `r`, `b`; `lists` for `e`, `l`."""
    shape: dict[str, Any] = {name: codes for name, codes in sections.items() if codes}
    for name, items in lists.items():
        numbered = {str(i): codes for i, codes in enumerate(items) if codes}
        if numbered:
            shape[name] = numbered
    return json.dumps(shape, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if shape else ""


@lru_cache(maxsize=4096)
def read_shape(text: str) -> Mapping[str, Any]:
    """The shape of a text; anything else than a shape reads as no types known."""
    try:
        shape = json.loads(text)
    except ValueError:
        return {}
    return shape if isinstance(shape, dict) else {}


def _dump(value: Any) -> str:
    # sorted like the exporter's; equal spans then have equal rows whatever the order of their members
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_bytes(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds_bytes(v) for v in value)
    return isinstance(value, bytes)


def _tag(value: Any) -> Any:
    """A JSON value that holds bytes: they become {"$bytes": base64}; an object with a `$` key is wrapped."""
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, (list, tuple)):
        return [_tag(v) for v in value]
    if isinstance(value, dict):
        tagged = {k: _tag(v) for k, v in value.items()}
        return {"$object": tagged} if any(k.startswith("$") for k in value) else tagged
    return value


def _untag(value: Any) -> Any:
    if isinstance(value, list):
        return [_untag(v) for v in value]
    if isinstance(value, dict):
        if value.keys() == {"$bytes"}:
            return base64.b64decode(value["$bytes"])
        if value.keys() == {"$object"}:
            return {k: _untag(v) for k, v in value["$object"].items()}
        return {k: _untag(v) for k, v in value.items()}
    return value


_DECODERS: dict[str, Any] = {
    INT: int,
    DOUBLE: float,
    BOOL: lambda text: text == "true",
    NULL: lambda text: None,
    BYTES: base64.b64decode,
    JSON_TEXT: json.loads,
    TAGGED: lambda text: _untag(json.loads(text)),
}
