"""`{datetime: "2026-11-02T22:30:00Z"}`: the same instant, whatever the offset it is written with (RFC 3339, R26).

`zone` is meant where a time has no offset; without it such a time fails. `within: 60` allows that many seconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.dates import read_moment, run_moment
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.extras import available
from otel_toolselect.rules.match.date import parse_zone
from otel_toolselect.rules.matching import Matcher, Scope

_ANY_TIME = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class InstantIs:
    phrase: str
    zone: ZoneInfo | None
    within: float
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        said = f"expected {self.describe}, got {brief(value)}"
        if not isinstance(value, str):
            return said
        now = run_moment(scope.view.run.start_ns, self.zone)
        wanted, found = read_moment(self.phrase, now, self.zone), read_moment(value, now, self.zone)
        if isinstance(wanted, str):
            return f"cannot be compared: {self.phrase!r} {wanted}"
        if isinstance(found, str):
            return f"{said}: it {found}" if found.startswith(("is ", "has ")) else f"{said}: {found}"
        apart = abs((found - wanted).total_seconds())
        return None if apart <= self.within else f"{said}, {apart:g} seconds apart"


class _Kind:
    name = "datetime"
    options = frozenset({"zone", "within"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        text = draft.problems.text(node, "datetime")
        zone, zone_ok = parse_zone(options, draft)
        within = draft.problems.number(options["within"], "within") if "within" in options else 0
        if text is None or not zone_ok or within is None:
            return None
        if not available("dateparser", "values", node, "the matcher 'datetime'", draft.problems):
            return None
        moment = read_moment(text, _ANY_TIME, zone)
        if isinstance(moment, str):
            why = moment if moment.startswith(text) else f"{clip(text)!r} {moment}"
            draft.problems.add(node, f"datetime: {why}", "write 2026-11-02T22:30:00Z")
            return None
        return InstantIs(text, zone, float(within), f"the instant {text}")


PLUGIN = _Kind()
