"""One look at a page, or one call of the read API: everything that a view function is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.datastructures import FormData, QueryParams

from otel_toolselect.app.audit import Origin, note
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.errors import UsageError
from otel_toolselect.web.person import Person
from otel_toolselect.web.site import Site

if TYPE_CHECKING:
    from otel_toolselect.config import Settings
    from otel_toolselect.store import Store

CARRIED = ("since", "until", "suite", "agent", "service", "model", "catalog", "tenant")
"""Filters that go along when the reader goes to another page."""
SURROGATES = "surrogatepass"
"""Names come from JSON, which may hold half characters; an address holds them as bytes."""


@dataclass(frozen=True, slots=True)
class Call:
    """`path` is ours, without what a proxy takes off. `params`: out of the path. `address`: of the client, for the
    audit log. `csrf`: goes into every form. `theme`, `said`: for the layout.
    """

    site: Site
    who: Person
    path: str
    now_ns: int
    filters: Filters = field(default_factory=Filters)
    query: QueryParams = field(default_factory=QueryParams)
    params: Mapping[str, str] = field(default_factory=dict)
    form: FormData = field(default_factory=FormData)
    address: str = ""
    csrf: str = ""
    theme: str = ""
    said: str = ""

    @property
    def store(self) -> Store:
        return self.site.store

    @property
    def settings(self) -> Settings:
        return self.site.settings

    @property
    def reader(self) -> Reader:
        """What `app.browse` is asked with: the store, and the only tenant that the person may see."""
        return Reader(self.site.store, self.who.tenant, self.site.settings, self.now_ns)

    def field(self, name: str, *, limit: int = 10_000) -> str:
        """A text of the form, without spaces around it; "" when it is not there. Raises UsageError beyond the limit."""
        value = self.form.get(name, "")
        if not isinstance(value, str):
            raise UsageError(f"{name} must be text")
        if len(value) > limit:
            raise UsageError(f"{name} is longer than {limit} characters: shorten it")
        return value.strip()

    @property
    def origin(self) -> Origin:
        """Who does something here, for those functions of `app` that keep the audit log."""
        return Origin(self.who.name, self.who.via, self.address, self.who.tenant)

    def note(self, action: str, subject: str = "", detail: Mapping[str, Any] | None = None) -> None:
        """Into the audit log, before it is done. Not needed where `origin` is given to a function that does it."""
        note(self.store, self.origin, [("", action, subject, detail or {})])

    # addresses

    def link(self, path: str, **query: str | int | None) -> str:
        """A path of ours as a browser needs it. Parts that come from data are to be quoted: `part`."""
        return self.site.root + path + _query(list(query.items()))

    def filtered(self, path: str, **changes: str | tuple[str, ...] | None) -> str:
        """Another page under the same window and the filters that all pages share, with some changed."""
        kept = {name: getattr(self.filters, name) for name in CARRIED}
        query = Filters(**kept).query(**changes)
        return self.site.root + path + (f"?{query}" if query else "")

    def here(self, **changes: str | int | None) -> str:
        """This page with other values in its address; its cursor goes unless one is given."""
        kept = [(name, value) for name, value in self.query.multi_items() if name not in changes and name != "cursor"]
        return self.site.root + quote(self.path, safe="/", errors=SURROGATES) + _query([*kept, *changes.items()])

    def at(self, query: str | None) -> str | None:
        """This page with a whole query string, such as `RunList.next`; None stays None."""
        return (
            None
            if query is None
            else f"{self.site.root}{quote(self.path, safe='/', errors=SURROGATES)}?{query.removeprefix('?')}"
        )


def _query(pairs: list[tuple[str, str | int | None]]) -> str:
    kept = [(name, str(value)) for name, value in pairs if value not in (None, "")]
    return f"?{urlencode(kept, errors=SURROGATES)}" if kept else ""


def part(text: str) -> str:
    """Text as one part of a path."""
    return quote(text, safe="", errors=SURROGATES)
