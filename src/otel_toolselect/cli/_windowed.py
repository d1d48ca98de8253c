"""`toolselect confusion --window`: confusion over windows of event time, counted by the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_toolselect.errors import TooFewError

if TYPE_CHECKING:
    from otel_toolselect.app.windows import Cut


def show(cut: Cut, store: str | None, form: str, output: str | None) -> None:
    """Raises UsageError, StoreError, and TooFewError when no window holds a decision."""
    from otel_toolselect import reports
    from otel_toolselect.app.windows import confusion_over
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    windows, scope, by = cut.windows(), cut.scope(), cut.dimensions()
    with opened(load({"store": store}).dsn, create=False) as held:
        found = confusion_over(held, scope, by, windows)
    if form == "json":
        write([reports.windows_json(found, cut.zone)], output)
    else:
        write([reports.windows_table(found, cut.zone, colour=wants_colour(output), width=width(output))], output)
    if not any(one.right.n for one in found):
        raise TooFewError("no window holds a judged decision; `serve`, `monitor judge` and `eval` make them")
