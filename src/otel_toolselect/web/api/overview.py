"""/api/v1/overview and /api/v1/doctor: what the pages of these names show."""

from __future__ import annotations

from fastapi import APIRouter

from otel_toolselect.app import browse
from otel_toolselect.app.browse.figure_models import Overview
from otel_toolselect.app.browse.state_models import DoctorView
from otel_toolselect.web.api import Endpoints, Reader

router = APIRouter(tags=["overview"])


@router.get("/overview")
def overview(call: Reader) -> Overview:
    """How agents chose in the window, and what changed against the one before."""
    return browse.overview(call.reader, call.filters)


@router.get("/doctor")
def doctor(call: Reader) -> DoctorView:
    """What arrives from which instrumentation, how complete it is, and which switch brings the rest."""
    return browse.doctor_view(call.reader, call.filters)


PLUGIN = Endpoints("overview", router)
