"""Pages for a `serve`: what `app.serving` is given, so that it needs to know no web framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.receive.settings import is_loopback
from otel_toolselect.web.signin.keys import session_key
from otel_toolselect.web.site import Site

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from otel_toolselect.app.parts import PartOf
    from otel_toolselect.config import Settings
    from otel_toolselect.receive.access import Access
    from otel_toolselect.store import Store


def pages(settings: Settings, store: Store, folder: Path, parts: Sequence[PartOf]) -> Callable[[Access], ASGIApp]:
    """What a receiver calls when it knows who may come in. Raises UsageError, EnvironmentProblem for settings that
    cannot work.
    """
    key = session_key(folder, settings.web.session_key)
    if settings.oidc.on:
        from otel_toolselect.web.signin.oidc import check

        check(settings.oidc)
    receive = settings.receive

    def made(access: Access) -> ASGIApp:
        from otel_toolselect.web.app import pages_app

        loopback, tls = is_loopback(receive.host), bool(receive.tls_cert)
        return pages_app(Site(store, settings, access, key, loopback=loopback, tls=tls, parts=parts))

    return made
