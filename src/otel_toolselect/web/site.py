"""What all pages stand on: one of it for each `serve`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from otel_toolselect.app.parts import PartOf
    from otel_toolselect.config import Settings
    from otel_toolselect.receive.access import Access
    from otel_toolselect.store import Store


@dataclass(frozen=True, slots=True)
class Site:
    """`store`: a handle for pages alone, whose queries are limited in time. `key`: signs sessions and forms.
    `loopback`: the port listens on loopback only. `tls`: the port itself speaks TLS. `parts`: what runs beside the
    pages.
    """

    store: Store
    settings: Settings
    access: Access
    key: bytes
    loopback: bool = True
    tls: bool = False
    parts: Sequence[PartOf] = ()

    @property
    def open(self) -> bool:
        """Whether nobody has to show who they are."""
        return not self.access.asks and not self.settings.oidc.on

    @property
    def secure(self) -> bool:
        """Whether browsers come over TLS, to us or to what stands in front."""
        return self.tls or self.settings.web.public_url.startswith("https://")

    @property
    def root(self) -> str:
        """The path before all paths of ours as browsers see them, without a slash at its end."""
        return urlsplit(self.settings.web.public_url).path.rstrip("/")
