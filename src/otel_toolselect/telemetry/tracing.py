"""Spans of this program about itself, to an OTLP endpoint; off unless `start` was called.

While off, `span` costs a function call and nothing of OpenTelemetry is imported. Attributes are counts, sizes and
kinds: never a name or value out of a trace. Of an error only the type is recorded: the SDK's own way keeps its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from otel_toolselect import __version__
from otel_toolselect.errors import UsageError
from otel_toolselect.telemetry.endpoints import address, refuse_loop

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

Value = str | int | float | bool
Add = Callable[[str, Value], None]
"""Sets one more attribute of the span that is open."""

SERVICE = "toolselect"
FLUSH_MS = 5_000
SETTING = "telemetry.otlp_endpoint"
_PATH = "/v1/traces"


def _ignore(name: str, value: Value) -> None:
    """`Add` while off."""


_OFF: AbstractContextManager[Add] = nullcontext(_ignore)
_tracer: Tracer | None = None


def span(name: str, **attributes: Value) -> AbstractContextManager[Add]:
    """A span around a block: `toolselect.NAME`, with attributes named `toolselect.ATTRIBUTE`."""
    return _OFF if _tracer is None else _recorded(_tracer, name, attributes)


@contextmanager
def _recorded(tracer: Tracer, name: str, attributes: dict[str, Value]) -> Iterator[Add]:
    from opentelemetry.trace import StatusCode

    named = {f"toolselect.{key}": value for key, value in attributes.items()}
    with tracer.start_as_current_span(
        f"toolselect.{name}", attributes=named, record_exception=False, set_status_on_exception=False
    ) as own:
        try:
            yield lambda key, value: own.set_attribute(f"toolselect.{key}", value)
        except Exception as error:
            own.set_attribute("error.type", type(error).__name__)
            own.set_status(StatusCode.ERROR)
            raise


def start(endpoint: str, *, own_ports: Sequence[int | None] = ()) -> Callable[[], None]:
    """Turns spans on; returns what sends the last ones and turns them off.

    `endpoint` is the base address of OTLP over HTTP (`http://collector:4318`), or with its own path. Headers, say for a
    token, come from OTEL_EXPORTER_OTLP_HEADERS, as for every OpenTelemetry exporter. Raises UsageError when the
    endpoint is one of `own_ports` of this machine, which would make a span about every span, and when the exporter is
    not installed.
    """
    global _tracer
    refuse_loop(SETTING, endpoint, own_ports)
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise UsageError(f"{SETTING} needs the exporter: pip install 'otel-toolselect[export]'") from None
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": SERVICE, "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address(endpoint, _PATH))))
    _tracer = provider.get_tracer("otel_toolselect", __version__)

    def stop() -> None:
        global _tracer
        _tracer = None
        provider.force_flush(FLUSH_MS)
        provider.shutdown()

    return stop
