"""/api/v1/alerts: states, silences, notifications."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from otel_toolselect.app import browse
from otel_toolselect.reports import jsonable
from otel_toolselect.web.api import Bare, Endpoints

router = APIRouter(tags=["alerts"])


@router.get("/alerts")
def alerts(call: Bare) -> dict[str, Any]:
    """Each series of each alert with its state, silences, and what became of the latest notifications."""
    found = browse.alerts_view(call.reader)
    parts = {"alerts": found.alerts, "silences": found.silences, "sendings": found.sendings}
    return {"problem": found.problem, **{name: jsonable(part) for name, part in parts.items()}}


PLUGIN = Endpoints("alerts", router)
