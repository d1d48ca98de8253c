"""Where runs come from in commands that take trace files or, without any, look into the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from otel_toolselect.app.times import moment
from otel_toolselect.cli._output import say
from otel_toolselect.cli._store import opened

if TYPE_CHECKING:
    from otel_toolselect.app import Evaluated
    from otel_toolselect.model.runs import Run

MaybePaths: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PATH]...", show_default=False, help="Trace files; without any, the store is looked at."),
]
Service: TypeAlias = Annotated[
    str | None, typer.Option("--service", help="Only traces of this service.name (store only).")
]


@dataclass(frozen=True, slots=True)
class Source:
    """Trace files, or the store within a window."""

    paths: list[str]
    store: str | None = None
    since: str | None = None
    until: str | None = None
    service: str | None = None

    def judged(self, suite: str) -> Evaluated:
        """The runs held to a suite; verdicts of stored runs are kept, judging again replaces them."""
        from otel_toolselect import app
        from otel_toolselect.config import load

        settings = load({"store": self.store})
        if self.paths:
            return app.scored(self.paths, suite, settings=settings, warn=say)
        window = {"since_ns": moment(self.since), "until_ns": moment(self.until)}
        with opened(settings.dsn, create=False) as held:
            return app.evaluate(held, suite, **window, service=self.service, settings=settings)

    def runs(self) -> list[Run]:
        from otel_toolselect import app
        from otel_toolselect.config import load

        settings = load({"store": self.store})
        if self.paths:
            return app.runs_from_files(self.paths, settings=settings, warn=say)
        window = {"since_ns": moment(self.since), "until_ns": moment(self.until)}
        with opened(settings.dsn, create=False) as held:
            return app.runs_from_store(held, **window, service=self.service, settings=settings)
