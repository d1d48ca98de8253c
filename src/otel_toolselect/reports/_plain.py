"""JSON out of anything that a verdict or an event may hold, the member order kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from otel_toolselect.model.runs import Unknown


def jsonable(value: Any) -> Any:
    """The value with only JSON types. What JSON cannot say (NaN, bytes, unknown) is said in text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Unknown):
        return {"unknown": value.reason}
    if is_dataclass(value):
        return {f.name: jsonable(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((jsonable(v) for v in value), key=str)
    if isinstance(value, Iterable):
        return [jsonable(v) for v in value]
    return str(value)


def sorted_members(value: Any) -> Any:
    """JSON with the members of every object sorted, so that a detour through the store changes no byte."""
    value = jsonable(value)
    if isinstance(value, dict):
        return {key: sorted_members(value[key]) for key in sorted(value)}
    return [sorted_members(item) for item in value] if isinstance(value, list) else value


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON text in UTF-8 letters. Lone surrogates stay as they are: the writer of bytes escapes them."""
    return json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False, indent=indent)


def short(value: Any, limit: int) -> str:
    """The value on one line, cut to `limit` characters."""
    text = value if isinstance(value, str) else dumps(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: max(1, limit - 1)] + "…"
