"""/api/v1/audit: who did what."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from otel_toolselect.app.audited import AuditList, audit_list
from otel_toolselect.web.api import Endpoints, Paged, Reader

router = APIRouter(tags=["access"])
Word = Annotated[str, Query(max_length=200)]


@router.get("/audit")
def audit(call: Reader, paged: Paged, actor: Word = "", action: Word = "") -> AuditList:
    """Labels, silences and sign-ins, the latest first. Needs the scope admin."""
    call.who.must("admin")
    return audit_list(call.reader, call.filters, actor=actor, action=action)


PLUGIN = Endpoints("audit", router)
