"""Events to an OTLP endpoint, through the exporter of the OpenTelemetry SDK.

Its own environment variables hold: OTEL_EXPORTER_OTLP_HEADERS for a token, ..._CERTIFICATE, ..._COMPRESSION,
..._TIMEOUT. It tries again on its own for as long as that timeout; what it then gives up is told here in one word.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from otel_toolselect import __version__
from otel_toolselect.errors import UsageError
from otel_toolselect.export.events import EVENT, Event
from otel_toolselect.telemetry.endpoints import address

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord

Outcome: TypeAlias = Literal["sent", "later", "refused"]
SETTING = "export.otlp_endpoint"
SERVICE = "toolselect"
_PATH = "/v1/logs"
# the receiver has looked at this request and will never take it; a wrong token or address may be put right
_FOR_GOOD = frozenset({400, 413, 422})


class Sender:
    """To one endpoint. Raises UsageError when the exporter is not installed."""

    def __init__(self, endpoint: str) -> None:
        try:
            import requests  # comes with the exporter
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        except ImportError:
            raise UsageError(f"{SETTING} needs the exporter: pip install 'otel-toolselect[export]'") from None
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._status = 0
        session = requests.Session()
        session.hooks["response"].append(self._answered)
        self._exporter = OTLPLogExporter(endpoint=address(endpoint, _PATH), session=session)
        self._resource = Resource.create({"service.name": SERVICE, "service.version": __version__})
        self._scope = InstrumentationScope("otel_toolselect", __version__)
        # it would log each failure with the address, which may hold a token; the follower says that there was one
        logging.getLogger("opentelemetry.exporter.otlp").setLevel(logging.CRITICAL)

    def send(self, events: Sequence[Event]) -> Outcome:
        from opentelemetry.sdk._logs.export import LogRecordExportResult

        self._status = 0
        if self._exporter.export([self._record(event) for event in events]) is LogRecordExportResult.SUCCESS:
            return "sent"
        return "refused" if self._status in _FOR_GOOD else "later"

    def close(self) -> None:
        """May be called by another thread: `send` then returns soon."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _answered(self, response: Any, *_: object, **__: object) -> None:
        self._status = int(response.status_code)

    def _record(self, event: Event) -> ReadableLogRecord:
        from opentelemetry._logs import LogRecord, SeverityNumber
        from opentelemetry.sdk._logs import ReadableLogRecord
        from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

        span = SpanContext(event.trace_id, event.span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
        record = LogRecord(
            timestamp=event.time_ns,
            observed_timestamp=event.time_ns,
            context=set_span_in_context(NonRecordingSpan(span)),
            severity_number=SeverityNumber.INFO,
            event_name=EVENT,
            attributes=dict(event.attributes),
        )
        return ReadableLogRecord(record, self._resource, self._scope)
