"""AnyValue and attribute lists of OTLP/JSON (common.proto): to plain Python values of the same type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otel_toolselect.model.spans import AttrValue
from otel_toolselect.otlp import scalars
from otel_toolselect.otlp.limits import Limits
from otel_toolselect.otlp.notes import BadField

_CAMEL = {
    "string_value": "stringValue",
    "bool_value": "boolValue",
    "int_value": "intValue",
    "double_value": "doubleValue",
    "array_value": "arrayValue",
    "kvlist_value": "kvlistValue",
    "bytes_value": "bytesValue",
}


def pick(holder: dict[str, Any], camel: str, snake: str) -> Any:
    """A member under its camelCase name or, tolerated, its name in the .proto file; None when absent."""
    value = holder.get(camel)
    return holder.get(snake) if value is None else value


def members(holder: Any, field: str) -> list[Any]:
    """A list; null and absent are the empty list."""
    if holder is None:
        return []
    if not isinstance(holder, list):
        raise BadField(field, f"must be a list, not {scalars.type_name(holder)}")
    return holder


def attributes(items: Any, limits: Limits, depth: int = 0, field: str = "attributes") -> dict[str, AttrValue]:
    """Key-value list to dict.

    The last of doubled keys wins; raises BadField naming the position of the bad one.
    """
    out: dict[str, AttrValue] = {}
    for i, item in enumerate(members(items, field)):
        try:
            if not isinstance(item, dict):
                raise BadField("", f"must be an object, not {scalars.type_name(item)}")
            key = item.get("key", "")
            if not isinstance(key, str):
                raise BadField("key", f"must be a string, not {scalars.type_name(key)}")
            out[key] = any_value(item.get("value"), limits, depth)
        except BadField as bad:
            raise bad.under(f"{field}[{i}]") from None
    return out


def any_value(value: Any, limits: Limits, depth: int = 0) -> AttrValue:
    """One AnyValue; absent, null and {} are None. Raises BadField naming the member."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadField("value", f'must be an object such as {{"stringValue":...}}, not {scalars.type_name(value)}')
    text = value.get("stringValue")
    if type(text) is str:  # nearly all values are strings: the short way
        return text
    for name, inner in value.items():
        kind = _CAMEL.get(name, name)
        if inner is not None and kind in _READERS:
            try:
                return _READERS[kind](inner, limits, depth)
            except BadField as bad:
                raise bad.under("value") from None
    return None


def _array(inner: Any, limits: Limits, depth: int) -> list[AttrValue]:
    out: list[AttrValue] = []
    for i, item in enumerate(_values(inner, "arrayValue", limits, depth)):
        try:
            out.append(any_value(item, limits, depth + 1))
        except BadField as bad:
            raise bad.under(f"arrayValue.values[{i}]") from None
    return out


def _kvlist(inner: Any, limits: Limits, depth: int) -> dict[str, AttrValue]:
    return attributes(_values(inner, "kvlistValue", limits, depth), limits, depth + 1, "kvlistValue.values")


def _values(inner: Any, field: str, limits: Limits, depth: int) -> list[Any]:
    if depth >= limits.max_depth:
        raise BadField(field, f"is nested deeper than {limits.max_depth} levels", "too_deep")
    if not isinstance(inner, dict):
        raise BadField(field, f"must be an object, not {scalars.type_name(inner)}")
    return members(inner.get("values"), f"{field}.values")


_READERS: dict[str, Callable[[Any, Limits, int], AttrValue]] = {
    "stringValue": lambda inner, _limits, _depth: scalars.text(inner, "stringValue"),
    "boolValue": lambda inner, _limits, _depth: scalars.boolean(inner, "boolValue"),
    "intValue": lambda inner, _limits, _depth: scalars.integer(inner, "intValue"),
    "doubleValue": lambda inner, _limits, _depth: scalars.double(inner, "doubleValue"),
    "bytesValue": lambda inner, _limits, _depth: scalars.blob(inner, "bytesValue"),
    "arrayValue": _array,
    "kvlistValue": _kvlist,
}
