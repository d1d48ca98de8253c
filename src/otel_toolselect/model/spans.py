"""Spans and log records as they arrive, before any dialect is read (OTLP trace.proto, logs.proto).

Ids are lower-case hex, `""` where there is none. Times are UTC nanoseconds since the epoch, 0 means unset.
Attribute values keep the type that the wire gave: structured values are lists and dicts, never text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from otel_toolselect.model.quick import quick
from otel_toolselect.model.runs import TENANT

AttrValue: TypeAlias = "bool | int | float | str | bytes | list[Any] | dict[str, Any] | None"
Attributes: TypeAlias = Mapping[str, AttrValue]

STATUS_UNSET, STATUS_OK, STATUS_ERROR = 0, 1, 2
KIND_UNSPECIFIED, KIND_INTERNAL, KIND_SERVER, KIND_CLIENT, KIND_PRODUCER, KIND_CONSUMER = range(6)


def tenant_of(resource: Attributes) -> str:
    """Whose the records of a resource are, "" where no receiver said so."""
    return str(resource.get(TENANT) or "")


@dataclass(frozen=True, slots=True)
class SpanEvent:
    name: str
    time_ns: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanLink:
    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=dict)
    trace_state: str = ""


@quick
@dataclass(frozen=True, slots=True)
class Span:
    trace_id: str
    span_id: str
    parent_span_id: str = ""
    trace_state: str = ""
    name: str = ""
    kind: int = KIND_UNSPECIFIED
    start_ns: int = 0
    end_ns: int = 0
    attributes: Attributes = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    status_code: int = STATUS_UNSET
    status_message: str = ""
    resource: Attributes = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""

    @property
    def service(self) -> str:
        return str(self.resource.get("service.name") or "")

    @property
    def order_ns(self) -> int:
        """The time to order by: the start; the end where the start is unset (never 1970)."""
        return self.start_ns or self.end_ns

    @property
    def clock_fault(self) -> str | None:
        """What is wrong with the span's times; a span with a fault has no duration, and is kept all the same."""
        if not self.start_ns or not self.end_ns:
            return "no start" if not self.start_ns else "no end"
        return "end before start" if self.end_ns < self.start_ns else None

    @property
    def duration_ns(self) -> int | None:
        """Nanoseconds; None when either end is unset or the end lies before the start."""
        if not self.start_ns or not self.end_ns or self.end_ns < self.start_ns:
            return None
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A log record; `event_name` is the field of that name, else the `event.name` attribute stays in `attributes`."""

    trace_id: str = ""
    span_id: str = ""
    time_ns: int = 0
    observed_ns: int = 0
    event_name: str = ""
    severity_number: int = 0
    severity_text: str = ""
    body: AttrValue = None
    attributes: Attributes = field(default_factory=dict)
    resource: Attributes = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A span or log record that could not be kept, and why; counted in OTLP partial success.

    `kind` is the reason as one word of a fixed set (`receive.counters.REJECTIONS`), for metrics.
    """

    where: str
    reason: str
    kind: str = "invalid"


@dataclass(frozen=True, slots=True)
class Batch:
    """What one request or one file line holds. `warnings` are things that were put right (lenient reading)."""

    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    rejected_spans: tuple[Rejection, ...] = ()
    rejected_logs: tuple[Rejection, ...] = ()
    warnings: tuple[str, ...] = ()
