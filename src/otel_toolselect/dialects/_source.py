"""What a dialect gets to read: one span with the log records that were written inside it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from otel_toolselect.model.observations import Observation
from otel_toolselect.model.quick import quick
from otel_toolselect.model.spans import Span


@dataclass(frozen=True, slots=True)
class Signal:
    """A span event or a log record, in one form. `body` is None for span events."""

    name: str
    attributes: dict[str, Any]
    body: Any = None


class Plans(dict[str, Any]):
    """What a dialect worked out once for all spans that look alike: of one scope, with the same attribute names."""


@quick
@dataclass(frozen=True, slots=True)
class Source:
    """One span and its signals: the span's events in their order, then its log records by time."""

    span: Span
    signals: tuple[Signal, ...] = ()
    plans: Plans = field(default_factory=Plans)

    def get(self, key: str) -> Any:
        return self.span.attributes.get(key)

    def first(self, *keys: str) -> Any:
        """The first attribute that is there and not an empty text."""
        for key in keys:
            value = self.span.attributes.get(key)
            if value is not None and value != "":
                return value
        return None

    def named(self, *names: str) -> Iterator[Signal]:
        return (s for s in self.signals if s.name in names) if self.signals else iter(())

    def has_prefix(self, prefix: str) -> bool:
        return any(k.startswith(prefix) for k in self.span.attributes)


class Dialect(Protocol):
    """One instrumentation family. A dialect is one file: its `PLUGIN` follows this protocol.

    `priority`: the higher is asked first; the first that claims a span reads it. It claims by the name of the span's
    scope and the names of its attributes, never by their values: the answer holds for all spans that look alike, and is
    asked for once. `hints` are switches that bring what
    spans of this dialect lack, by what is missing (arguments, results, catalog, request), for `toolselect doctor`.
    """

    @property
    def name(self) -> str: ...

    @property
    def priority(self) -> int: ...

    @property
    def hints(self) -> dict[str, str]: ...

    def claims(self, scope: str, keys: Collection[str]) -> bool: ...

    def read(self, source: Source) -> Observation: ...
