"""What a receiver checks in an OTLP request before it keeps it, in the message itself.

A record that cannot be kept is taken out of the message and named, with the texts of `protodecode`: nearly every record
is passed by a few comparisons, and one that is not is read by `protodecode` to say what is wrong with it. What is kept
afterwards is read by `protodecode` without a rejection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.config import Limits
from otel_toolselect.otlp import protodecode
from otel_toolselect.otlp.cut import Cutter
from otel_toolselect.otlp.limits import Limits as ReadLimits
from otel_toolselect.otlp.notes import BadField, Notes
from otel_toolselect.otlp.scalars import INT64_MAX
from otel_toolselect.otlp.skim import Skim

CLOCK_SKEW = "toolselect.clock_skew"
_SCOPE: tuple[dict[str, Any], str, str] = ({}, "", "")
_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)
_SEVERITY_MAX = 24


@dataclass(frozen=True, slots=True)
class Window:
    """Times that are kept: a record before `oldest_ns` is rejected, one after `newest_ns` is marked."""

    oldest_ns: int = 0
    newest_ns: int = INT64_MAX
    days: int = 0
    """What `oldest_ns` was made from, for the message."""


@dataclass(slots=True)
class Checked:
    """What became of a request. `counts`: what was altered, by kind."""

    kept: int
    changed: bool
    counts: dict[str, int]


class Checker:
    """Checks one request whose skim is `found`. `places`: where each record stood in what was sent, when the message
    is not what was sent.
    """

    def __init__(
        self,
        limits: Limits,
        window: Window,
        notes: Notes,
        found: Skim,
        places: Sequence[str] | None = None,
    ) -> None:
        self._limits = limits
        self._window = window
        self._notes = notes
        self._places = places
        self._at = 0
        self._read = ReadLimits(max_depth=limits.depth)
        self._cutter = Cutter(limits)
        self._deep = found.depth > limits.depth
        self._large = found.longest_key() > limits.key_bytes or found.has_longer_than(limits.value_bytes)
        self._changed = False
        self._skewed = 0

    def traces(self, request: Any) -> Checked:
        """Raises DecodeError when a resource cannot be read: every span below it would be without its service."""
        kept = 0
        for raws, place in self._lists(request.resource_spans, "resourceSpans", "scopeSpans", "spans"):
            kept += self._records(raws, place, self._span, self._notes.reject_span)
        return self._done(kept)

    def logs(self, request: Any) -> Checked:
        """As `traces`."""
        kept = 0
        for raws, place in self._lists(request.resource_logs, "resourceLogs", "scopeLogs", "logRecords"):
            kept += self._records(raws, place, self._log, self._notes.reject_log)
        return self._done(kept)

    def _done(self, kept: int) -> Checked:
        counts = dict(self._cutter.counts)
        for kind in counts:
            self._notes.warn(_WARNINGS[kind].format(limits=self._limits))
        if self._skewed:
            counts["clock_skew"] = self._skewed
            self._notes.warn(f"a start lies in the future by this receiver's clock, kept with {CLOCK_SKEW}")
        return Checked(kept, self._changed, counts)

    def _lists(self, groups: Any, top: str, middle: str, leaf: str) -> Iterator[tuple[Any, str]]:
        for i, group in enumerate(groups):
            resource = group.resource
            if self._deep:
                protodecode.inherited(resource.attributes, self._read, f"{top}[{i}]", self._notes.where)
            if self._large or len(resource.attributes) > self._limits.attributes:
                self._changed |= self._cutter.holder(resource)
            for j, scoped in enumerate(group.scope_spans if leaf == "spans" else group.scope_logs):
                if self._large or len(scoped.scope.attributes) > self._limits.attributes:
                    self._changed |= self._cutter.scope(scoped.scope)
                yield scoped.spans if leaf == "spans" else scoped.log_records, f"{top}[{i}].{middle}[{j}].{leaf}"

    def _records(
        self, raws: Any, place: str, check: Callable[[Any], None], reject: Callable[[str, BadField], None]
    ) -> int:
        """Checks the records of one list, takes out the bad ones, returns how many are left."""
        bad: list[int] = []
        for k, raw in enumerate(raws):
            try:
                check(raw)
            except BadField as error:
                bad.append(k)
                reject(self._places[self._at + k] if self._places is not None else f"{place}[{k}]", error)
        self._at += len(raws)
        for k in reversed(bad):
            del raws[k]
        self._changed |= bool(bad)
        return len(raws)

    def _span(self, raw: Any) -> None:
        limits = self._limits
        start = raw.start_time_unix_nano
        if not self._plain_span(raw, start) or self._deep:
            protodecode.read_span(raw, _SCOPE, self._notes, self._read)
        self._time(raw, start or raw.end_time_unix_nano, "startTimeUnixNano" if start else "endTimeUnixNano")
        if self._large or len(raw.attributes) > limits.attributes or self._too_many(raw):
            self._changed |= self._cutter.span(raw)

    def _too_many(self, raw: Any) -> bool:
        limits, events, links = self._limits, raw.events, raw.links
        return (bool(events) and (len(events) > limits.events or _most_attributes(events) > limits.attributes)) or (
            bool(links) and (len(links) > limits.links or _most_attributes(links) > limits.attributes)
        )

    @staticmethod
    def _plain_span(raw: Any, start: int) -> bool:
        """Nothing for `protodecode` to say, but for nesting."""
        trace_id, span_id = raw.trace_id, raw.span_id
        return (
            len(trace_id) == 16
            and trace_id != _NO_TRACE
            and len(span_id) == 8
            and span_id != _NO_SPAN
            and len(raw.parent_span_id) in (0, 8)
            and start <= INT64_MAX
            and raw.end_time_unix_nano <= INT64_MAX
            and 0 <= raw.kind <= 5
            and 0 <= raw.status.code <= 2
            and not raw.links
            and (not raw.events or max(event.time_unix_nano for event in raw.events) <= INT64_MAX)
        )

    def _log(self, raw: Any) -> None:
        time = raw.time_unix_nano
        if not self._plain_log(raw) or self._deep:
            protodecode.read_log(raw, _SCOPE, self._notes, self._read)
        observed = raw.observed_time_unix_nano
        self._time(raw, time or observed, "timeUnixNano" if time else "observedTimeUnixNano")
        if self._large or len(raw.attributes) > self._limits.attributes:
            self._changed |= self._cutter.log(raw)

    @staticmethod
    def _plain_log(raw: Any) -> bool:
        return (
            len(raw.trace_id) in (0, 16)
            and len(raw.span_id) in (0, 8)
            and raw.time_unix_nano <= INT64_MAX
            and raw.observed_time_unix_nano <= INT64_MAX
            and 0 <= raw.severity_number <= _SEVERITY_MAX
        )

    def _time(self, raw: Any, time: int, name: str) -> None:
        """A record without any time has no age."""
        if time and time < self._window.oldest_ns:
            raise BadField(name, f"is older than the retention of {self._window.days} days", "too_old")
        if time > self._window.newest_ns:
            self._skewed += 1
            self._changed = True
            raw.attributes.add(key=CLOCK_SKEW).value.bool_value = True


_WARNINGS = {
    "value": "a value over {limits.value_bytes} bytes was cut",
    "key": "a key over {limits.key_bytes} bytes was cut",
    "attributes": "of more than {limits.attributes} attributes some were left out",
    "events": "of more than {limits.events} events the oldest were left out",
    "links": "of more than {limits.links} links the last were left out",
}
"""What the sender is told of each kind of cut."""


def _most_attributes(items: Iterable[Any]) -> int:
    return max(len(item.attributes) for item in items)
