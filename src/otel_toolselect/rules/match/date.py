"""`{date: 2026-11-03}`, `{date: next tuesday}`: the same day in whatever form it is written (R26, forms in
`rules.dates`).

Relative words count from the day on which the run began, in `zone` (default UTC), or from `today: 2026-10-30` where the
case tells the model what day it is. `zone` also says whose day an instant
is: 2026-11-02T22:30:00Z is 2026-11-03 in Helsinki. `format: DD/MM/YYYY` (or a list, or strptime's spelling) settles
what numbers mean; without it `03/11/2026` fails as ambiguous.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Items, Node, clip
from otel_toolselect.rules.dates import as_strptime, read_day, run_day
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.extras import available
from otel_toolselect.rules.matching import Matcher, Scope

_ANY_DAY = dt.date(2026, 1, 1)  # words that mean nothing on this day never mean anything


@dataclass(frozen=True, slots=True)
class DateIs:
    phrase: str
    zone: ZoneInfo | None
    formats: tuple[str, ...]
    today: dt.date | None
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        said = f"expected {self.describe}, got {brief(value)}"
        if not isinstance(value, str):
            return said
        today = self.today or run_day(scope.view.run.start_ns, self.zone)
        wanted = read_day(self.phrase, today, self.zone, self.formats)
        if isinstance(wanted, str):
            return f"cannot be compared: {self.phrase!r} {wanted}"
        found = read_day(value, today, self.zone, self.formats)
        if found == wanted:
            return None
        if isinstance(found, str):
            return f"{said}: it {found}" if found.startswith(("is ", "has ")) else f"{said}: {found}"
        where = f" in {self.zone.key}" if self.zone is not None else ""
        meant = f" ({wanted})" if str(wanted) != self.phrase else ""
        return f"expected {self.describe}{meant}, got {brief(value)}, which is {found}{where}"


class _Kind:
    name = "date"
    options = frozenset({"zone", "format", "today"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        text = draft.problems.text(node, "date")
        zone, zone_ok = parse_zone(options, draft)
        formats = _formats(options["format"], draft) if "format" in options else ()
        today = _today(options["today"], draft) if "today" in options else None
        if text is None or not zone_ok or formats is None or ("today" in options and today is None):
            return None
        if not available("dateparser", "values", node, "the matcher 'date'", draft.problems):
            return None
        day = read_day(text, _ANY_DAY, zone, formats)
        if isinstance(day, str):
            why = day if day.startswith(text) else f"{clip(text)!r} {day}"
            draft.problems.add(node, f"date: {why}", "write 2026-11-03, or words such as next tuesday")
            return None
        return DateIs(text, zone, formats, today, f"the date {text}")


def parse_zone(options: Mapping[str, Node], draft: Draft) -> tuple[ZoneInfo | None, bool]:
    """The zone that the options name, and whether it could be read."""
    if "zone" not in options:
        return None, True
    name = draft.problems.text(options["zone"], "zone")
    if name is None:
        return None, False
    try:
        return ZoneInfo(name), True
    except (KeyError, ValueError, OSError):
        draft.problems.add(options["zone"], f"unknown time zone {clip(name)!r}", "write a name such as Europe/Berlin")
        return None, False


def _today(node: Node, draft: Draft) -> dt.date | None:
    text = draft.problems.text(node, "today")
    try:
        return dt.date.fromisoformat(text) if text is not None else None
    except ValueError:
        draft.problems.add(node, f"today {clip(str(text))!r} is no date", "write 2026-10-30")
        return None


def _formats(node: Node, draft: Draft) -> tuple[str, ...] | None:
    entries = node.items if isinstance(node, Items) else (node,)
    found = []
    for entry in entries:
        text = draft.problems.text(entry, "format")
        form = as_strptime(text) if text is not None else None
        if text is not None and form is None:
            draft.problems.add(entry, f"format {clip(text)!r} names no day, month and year", "write DD/MM/YYYY")
        if form is not None:
            found.append(form)
    return tuple(found) if len(found) == len(entries) and found else None


PLUGIN = _Kind()
