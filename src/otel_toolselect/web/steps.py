"""A run's events as pages show them: each with its content in lines, the findings about it, its raw spans."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.app.browse.run_models import Evidence, RunTimeline, TimelineEvent
from otel_toolselect.model.spans import Span
from otel_toolselect.reports import jsonable
from otel_toolselect.web.document import Document, document


@dataclass(frozen=True, slots=True)
class Step:
    event: TimelineEvent
    content: Document | None
    findings: tuple[Evidence, ...]
    spans: tuple[tuple[Span, Document], ...]


def steps_of(found: RunTimeline) -> list[Step]:
    return [_step(found, event) for event in found.events]


def _step(found: RunTimeline, event: TimelineEvent) -> Step:
    findings = [finding for key in event.evidence if (finding := found.finding(key)) is not None]
    wrong = [f for f in findings if f.status in ("fail", "needs_review")]
    marked = {path for finding in wrong for position, path in finding.values if position == event.position}
    nothing = event.content is None and (event.unknown is not None or event.raw is not None)
    spans = tuple((found.spans[i], document(jsonable(found.spans[i]))) for i in event.spans if i in found.spans)
    return Step(event, None if nothing else document(event.content, marked), tuple(findings), spans)
