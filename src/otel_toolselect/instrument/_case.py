"""Which case of which suite a run belongs to, carried in baggage and written on its spans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import baggage, context
from opentelemetry.context import Context
from opentelemetry.trace import Span

KEYS = ("toolselect.case.id", "toolselect.suite", "toolselect.label", "toolselect.attempt")


@contextmanager
def case(
    case_id: str, *, suite: str | None = None, label: str | None = None, attempt: int | None = None
) -> Iterator[None]:
    """All runs in the block belong to this case. `label` names an experiment, `attempt` counts repeats of a case.

    The identity travels as baggage, over process borders too; `CaseSpanProcessor` writes it on the spans.
    """
    values = (case_id, suite, label, None if attempt is None else str(attempt))
    current = context.get_current()
    for key, value in zip(KEYS, values, strict=True):
        if value is not None:
            current = baggage.set_baggage(key, value, current)
    token = context.attach(current)
    try:
        yield
    finally:
        context.detach(token)


class CaseSpanProcessor:
    """A span processor for the SDK that copies the case's baggage to every span as it starts.

        provider.add_span_processor(CaseSpanProcessor())

    It has the methods of the SDK's SpanProcessor without importing the SDK.
    """

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        for key in KEYS:
            value = baggage.get_baggage(key, parent_context)
            if isinstance(value, str):
                span.set_attribute(key, value)

    def _on_ending(self, span: Span) -> None:
        """Called by the SDK before a span ends."""

    def on_end(self, span: object) -> None:
        """Nothing is left to do."""

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True
