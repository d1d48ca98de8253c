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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from otel_toolselect.model.remembered import remembered
from otel_toolselect.model.spans import AttrValue

Codes: TypeAlias = dict[str, str]
"""Key -> type code of the values that are not strings."""

INT, DOUBLE, BOOL, NULL, BYTES, JSON_TEXT, TAGGED = "i", "d", "b", "n", "x", "j", "t"


def encode(value: AttrValue) -> tuple[str, str]:
    """The text of a value that is not a string, and its type code."""
    return _ENCODERS[type(value)](value)


def _double(value: float) -> tuple[str, str]:
    # the exporter writes 1 for 1.0; repr is exact for the rest
    return repr(value).removesuffix(".0"), DOUBLE


def _structure(value: Any) -> tuple[str, str]:
    return (_dump(_tag(value)), TAGGED) if _holds_bytes(value) else (_dump(value), JSON_TEXT)


def decode(text: str, code: str) -> Any:
    """The value of a text and a code from `encode`; an unknown code leaves the text as it is."""
    decoder = _DECODERS.get(code)
    return text if decoder is None else decoder(text)


def decode_items(attributes: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
    """Put the types back, in place."""
    for key, code in codes.items():
        text = attributes.get(key)
        if text is not None:
            attributes[key] = decode(text, code)
    return attributes


def shape_text(sections: Mapping[str, Codes | str | Sequence[Codes]]) -> str:
    """The shape of a row: codes for `s` and `r`, a code for `b`, the codes of each item for `e` and `l`."""
    shape: dict[str, Any] = {}
    for name, found in sections.items():
        own = found if isinstance(found, (str, dict)) else {str(i): codes for i, codes in enumerate(found) if codes}
        if own:
            shape[name] = own
    return _dump(shape) if shape else ""


@remembered(4_096, 8_192)
def read_shape(text: str) -> Mapping[str, Any]:
    """The shape of a text; anything else than a shape reads as no types known."""
    try:
        shape = json.loads(text)
    except ValueError:
        return {}
    return shape if isinstance(shape, dict) else {}


# sorted like the exporter's; equal spans then have equal rows whatever the order of their members
_dump = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


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


_ENCODERS: dict[type, Callable[[Any], tuple[str, str]]] = {
    type(None): lambda value: ("", NULL),
    bool: lambda value: ("true" if value else "false", BOOL),
    int: lambda value: (str(value), INT),
    float: _double,
    bytes: lambda value: (base64.b64encode(value).decode("ascii"), BYTES),
    list: _structure,
    tuple: _structure,
    dict: _structure,
}
CODES: dict[type, str] = {kind: encode(kind())[1] for kind in _ENCODERS}
"""Type -> its code; of a list or object, the code of one without bytes."""

_DECODERS: dict[str, Any] = {
    INT: int,
    DOUBLE: float,
    BOOL: lambda text: text == "true",
    NULL: lambda text: None,
    BYTES: base64.b64decode,
    JSON_TEXT: json.loads,
    TAGGED: lambda text: _untag(json.loads(text)),
}
