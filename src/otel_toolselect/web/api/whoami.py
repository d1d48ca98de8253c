"""/api/v1/whoami: who the caller is, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter

from otel_toolselect.web.api import Bare, Endpoints

router = APIRouter(tags=["access"])


@dataclass(frozen=True, slots=True)
class WhoAmI:
    """`via`: open, bearer, session, oidc or certificate. `tenant`: the only one that they may see; null: all."""

    name: str
    role: str
    scopes: list[str]
    via: str
    tenant: str | None


@router.get("/whoami")
def whoami(call: Bare) -> WhoAmI:
    who = call.who
    return WhoAmI(who.name, who.role, sorted(who.scopes), who.via, who.tenant)


PLUGIN = Endpoints("whoami", router)
