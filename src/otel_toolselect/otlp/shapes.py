"""JSON documents that hold traces: which form is it, and the way to a Batch (design section 8, input
paths).
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import jaeger
from otel_toolselect.otlp.jsondecode import decode_document
from otel_toolselect.otlp.limits import FILES, Limits

FORMS = "OTLP (resourceSpans, resourceLogs), Tempo (batches, trace), Jaeger (data)"
_OTLP = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_OTHER_SIGNALS = ("resourceMetrics", "resource_metrics", "resourceProfiles", "resource_profiles")


class UnknownShapeError(DecodeError):
    """A sound JSON document that is no trace file: an error when named, skipped when only found in a
    folder.
    """


def to_batch(document: Any, *, where: str, limits: Limits = FILES) -> Batch:
    """The spans and logs of one document of any known form.

    Raises UnknownShapeError, or DecodeError within a form.
    """
    if isinstance(document, list):
        if not document:
            return Batch()
        return join([to_batch(item, where=where, limits=limits) for item in document])
    if not isinstance(document, dict):
        raise UnknownShapeError(f"no trace file; an object is expected: {FORMS}", where=where)
    if any(name in document for name in _OTLP):
        return decode_document(document, where=where, limits=limits)
    if "batches" in document:  # Tempo's older answer: resourceSpans by another name
        return decode_document({"resourceSpans": document["batches"]}, where=where, limits=limits)
    if isinstance(document.get("trace"), dict):  # Tempo's newer answer
        return to_batch(document["trace"], where=where, limits=limits)
    if jaeger.is_jaeger(document):
        return jaeger.decode_document(document, where=where, limits=limits)
    if any(name in document for name in _OTHER_SIGNALS):
        return Batch(warnings=(f"{where}: metrics or profiles were skipped",))
    raise UnknownShapeError(f"no trace file; known are {FORMS}", where=where)


def join(batches: list[Batch]) -> Batch:
    return Batch(
        tuple(s for b in batches for s in b.spans),
        tuple(r for b in batches for r in b.logs),
        tuple(r for b in batches for r in b.rejected_spans),
        tuple(r for b in batches for r in b.rejected_logs),
        tuple(w for b in batches for w in b.warnings),
    )
