"""Cutting what is too large in a message, so that its record can be kept (`config.Limits`).

A span is worth more with a shortened value than not at all: a tool call stays a tool call when a blob beside it goes.
Texts end at a character boundary. Of too many attributes the numbered ones (`llm.input_messages.7.content`) go first,
as the names of tools and calls are not among them; of too many events the oldest, as the model's choice comes last; of
too many links the last. OTLP's own counts of what was dropped are kept up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otel_toolselect.config import Limits

FLAG = "toolselect.truncated"
"""The attribute that names what was cut: attribute keys, fields, or `attributes`, `events`, `links` for lists."""
_SHOWN = 64


class Cutter:
    """Cuts one record after another. `counts`: how often each kind of thing was cut, by a fixed set of words."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._cut: list[str] = []
        self.counts: dict[str, int] = {}

    def span(self, raw: Any) -> bool:
        """True when something was cut."""
        self._field(raw, "name")
        self._field(raw, "trace_state")
        self._field(raw.status, "message", "status.")
        self._attributes(raw)
        self._first(raw, "events", self._limits.events)
        for i, event in enumerate(raw.events):
            self._field(event, "name", f"events[{i}].")
            self._attributes(event, f"events[{i}].")
        self._last(raw, "links", self._limits.links)
        for i, link in enumerate(raw.links):
            self._field(link, "trace_state", f"links[{i}].")
            self._attributes(link, f"links[{i}].")
        return self._flag(raw)

    def log(self, raw: Any) -> bool:
        """True when something was cut."""
        for name in ("event_name", "severity_text"):
            self._field(raw, name)
        if self._value(raw.body, self._limits.value_bytes) is None:
            self._note("body", "value")
        self._attributes(raw)
        return self._flag(raw)

    def holder(self, raw: Any) -> bool:
        """A resource. True when something was cut."""
        self._attributes(raw)
        return self._flag(raw)

    def scope(self, raw: Any) -> bool:
        """A scope; it has no flag of its own. True when something was cut."""
        self._field(raw, "name")
        self._field(raw, "version")
        self._attributes(raw)
        changed, self._cut = bool(self._cut), []
        return changed

    def _flag(self, raw: Any) -> bool:
        if not self._cut:
            return False
        flag = raw.attributes.add(key=FLAG).value.array_value
        for name in self._cut[:_SHOWN]:
            flag.values.add(string_value=name)
        self._cut = []
        return True

    def _note(self, name: str, kind: str) -> None:
        self._cut.append(name)
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def _field(self, raw: Any, name: str, prefix: str = "") -> None:
        shorter = _text(getattr(raw, name), self._limits.value_bytes)
        if shorter is not None:
            setattr(raw, name, shorter)
            self._note(prefix + name, "value")

    def _attributes(self, raw: Any, prefix: str = "") -> None:
        items = raw.attributes
        over = len(items) - self._limits.attributes
        if over > 0:
            for i in sorted(_least_needed(items, over), reverse=True):
                del items[i]
            self._dropped(raw, "attributes", over, prefix)
        for item in items:
            self._key(item)
            if self._value(item.value, self._limits.value_bytes) is None:
                self._note(prefix + item.key, "value")

    def _key(self, item: Any) -> None:
        shorter = _text(item.key, self._limits.key_bytes)
        if shorter is not None:
            item.key = shorter
            self._note(shorter, "key")

    def _value(self, value: Any, room: int) -> int | None:
        """What is left of the room after this value; None when the value had to be cut to fit."""
        kind = value.WhichOneof("value")
        if kind == "string_value":
            shorter = _text(value.string_value, room)
            if shorter is None:
                return room - len(value.string_value.encode())
            value.string_value = shorter
            return None
        if kind == "bytes_value":
            size = len(value.bytes_value)
            if size <= room:
                return room - size
            value.bytes_value = value.bytes_value[:room]
            return None
        if kind == "array_value":
            return self._list(value.array_value.values, room)
        if kind == "kvlist_value":
            return self._list(value.kvlist_value.values, room)
        return room - 8

    def _list(self, items: Any, room: int) -> int | None:
        """Keeps members in their order as long as there is room; the one that does not fit is cut, later ones go."""
        for i, item in enumerate(items):
            if room < 0:
                del items[i:]
                return None
            inner = item
            if hasattr(item, "key"):
                self._key(item)
                room = max(0, room - len(item.key.encode()))
                inner = item.value
            left = self._value(inner, room)
            if left is None:
                del items[i + 1 :]
                return None
            room = left
        return room

    def _first(self, raw: Any, name: str, limit: int) -> None:
        over = len(getattr(raw, name)) - limit
        if over > 0:
            del getattr(raw, name)[:over]
            self._dropped(raw, name, over)

    def _last(self, raw: Any, name: str, limit: int) -> None:
        over = len(getattr(raw, name)) - limit
        if over > 0:
            del getattr(raw, name)[limit:]
            self._dropped(raw, name, over)

    def _dropped(self, raw: Any, name: str, over: int, prefix: str = "") -> None:
        field = f"dropped_{name}_count"
        setattr(raw, field, min(getattr(raw, field) + over, 2**32 - 1))
        self._note(prefix + name, name)


def _least_needed(items: Iterable[Any], count: int) -> list[int]:
    """Positions of the attributes to go: the last numbered ones, then the last of the others."""
    order: dict[bool, list[int]] = {True: [], False: []}
    for i, item in enumerate(items):
        order[any(part.isdigit() for part in item.key.split("."))].append(i)
    return [*reversed(order[True]), *reversed(order[False])][:count]


def _text(text: str, limit: int) -> str | None:
    """The text cut to a number of bytes at a character boundary; None when it fits."""
    if len(text) * 4 <= limit:
        return None
    raw = text.encode()
    return None if len(raw) <= limit else raw[:limit].decode(errors="ignore")
