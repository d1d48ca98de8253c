"""Pieces of JSON Schema that the schemas of all files are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = "dict[str, Any]"


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def items(of: Schema, *, least: int = 0) -> Schema:
    return {"type": "array", "items": of} | ({"minItems": least} if least else {})


def mapping(properties: Mapping[str, Schema], *, required: Iterable[str] = (), about: str = "") -> Schema:
    """A mapping with these keys and no others."""
    made: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if required:
        made["required"] = list(required)
    return made | ({"description": about} if about else {})


def words(options: Iterable[str]) -> Schema:
    return {"enum": list(options)}


# plain scalars that look like numbers or booleans are texts to the loader where it wants a text
TEXT: Schema = {"type": ["string", "number", "boolean"]}
WHOLE: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
