"""Log records without a span id, and the spans during which they were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from otel_toolselect.model.spans import Attributes, LogRecord, Span


def covering(logs: Sequence[LogRecord], spans: Sequence[Span]) -> Iterator[tuple[tuple[str, str], LogRecord]]:
    """Each record with the ids of the one span of its scope and service whose time covers it; without such a span, or
    with several, a record is left out.
    """
    if not logs:
        return
    written: dict[tuple[str, str], list[LogRecord]] = defaultdict(list)
    for log in logs:
        written[log.scope_name, _service(log.resource)].append(log)
    beside: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in spans:
        key = (span.scope_name, _service(span.resource))
        if key in written:
            beside[key].append(span)
    for key, mine in beside.items():
        yield from _swept(sorted(written[key], key=_time), sorted(mine, key=lambda s: s.start_ns))


def _swept(logs: Sequence[LogRecord], spans: Sequence[Span]) -> Iterator[tuple[tuple[str, str], LogRecord]]:
    """One walk through time: the spans that are open at each record, the first to end on top."""
    opened: list[tuple[int, int]] = []
    begun = 0
    for log in logs:
        now = _time(log)
        while begun < len(spans) and spans[begun].start_ns <= now:
            heappush(opened, (spans[begun].end_ns, begun))
            begun += 1
        while opened and opened[0][0] < now:
            heappop(opened)
        if len(opened) == 1:
            span = spans[opened[0][1]]
            yield (span.trace_id, span.span_id), log


def _time(log: LogRecord) -> int:
    return log.time_ns or log.observed_ns


def _service(resource: Attributes) -> str:
    """Told apart by type too: an absent name is not an empty one."""
    return repr(resource.get("service.name"))
