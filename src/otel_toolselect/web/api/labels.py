"""/api/v1/labels: the queue of a day, and disagreements."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from otel_toolselect.app import browse
from otel_toolselect.app.browse.run_models import DisputeRow, QueueView
from otel_toolselect.app.labels import Desk, named_day
from otel_toolselect.web.api import Endpoints, Labeller, Reader

router = APIRouter(prefix="/labels", tags=["labels"])
Day = Annotated[str, Query(max_length=20, description="today, yesterday or 2026-01-31, UTC")]


@router.get("/queue")
def queue(call: Labeller, day: Day = "today") -> QueueView:
    """What the caller has not labelled of a day's sample, what to look at first before the rest."""
    desk = Desk(call.store, call.settings, clock=lambda: call.now_ns)
    return browse.label_queue(call.reader, desk, named_day(day, call.now_ns), call.who.name)


@router.get("/disagreements")
def disagreements(call: Reader) -> list[DisputeRow]:
    """Runs of the window on which two sources disagree. Needs the scope label."""
    call.who.must("label")
    return list(browse.label_disputes(call.reader, call.filters))


PLUGIN = Endpoints("labels", router)
