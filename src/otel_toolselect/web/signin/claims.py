"""What a provider of OpenID Connect says of a person, and what follows from it under the settings as they are now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.config import Oidc
from otel_toolselect.errors import UsageError
from otel_toolselect.receive.status import ForbiddenError
from otel_toolselect.web.person import Role

EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class Claims:
    """`values`: those of the claim that the settings name and that mean something there; the rest is not kept."""

    name: str
    values: tuple[str, ...]


def claims_of(settings: Oidc, token: Mapping[str, Any]) -> Claims:
    """Out of an ID token that was verified. Raises ForbiddenError for a person without a role."""
    found = token.get(settings.claim, ())
    listed = [found] if isinstance(found, str) else [v for v in found if isinstance(v, str)] if found else []
    meant = {*settings.viewers, *settings.labellers, *settings.admins, *tenants(settings)}
    values = tuple(value for value in listed if value in meant)
    name = _name(settings, token)
    if role_of(settings, values) is None:
        raise ForbiddenError(
            f"{name} has no role here: one of their {settings.claim} must stand in [oidc] of the settings"
        )
    tenant_of(settings, values)
    return Claims(name[:200], values)


def _name(settings: Oidc, token: Mapping[str, Any]) -> str:
    """What a person is called in the audit log and on labels. An address that was not verified may be anybody's."""
    chosen = token.get(settings.name_claim)
    if settings.name_claim == "email" and token.get("email_verified") is False:
        chosen = None
    return str(chosen or token["sub"])


def role_of(settings: Oidc, values: Collection[str]) -> Role | None:
    """The highest role that one of the values gives."""
    roles: tuple[tuple[Role, Sequence[str]], ...] = (
        ("admin", settings.admins),
        ("labeller", settings.labellers),
        ("viewer", settings.viewers),
    )
    return next((role for role, listed in roles if EVERYBODY in listed or any(v in listed for v in values)), None)


def tenants(settings: Oidc) -> dict[str, str]:
    """Tenant by value of the claim. Raises UsageError."""
    found = {}
    for text in settings.tenants:
        value, equals, tenant = text.partition("=")
        if not value or not equals or not tenant:
            raise UsageError(f"oidc.tenants: {text!r} is not VALUE=TENANT")
        found[value] = tenant
    return found


def tenant_of(settings: Oidc, values: Collection[str]) -> str | None:
    """The one tenant that they may see; None: all. Where the settings know tenants, only admins may belong to none.

    Raises ForbiddenError where the values name several, or none.
    """
    known = tenants(settings)
    found = {tenant for value, tenant in known.items() if value in values}
    if len(found) > 1:
        raise ForbiddenError(
            f"their {settings.claim} name several tenants ({', '.join(sorted(found))}): one is possible"
        )
    if known and not found and role_of(settings, values) != "admin":
        raise ForbiddenError(f"their {settings.claim} name no tenant: one of them must stand in oidc.tenants")
    return next(iter(found), None)
