"""Dialects: spans of any instrumentation, read into observations (design section 4).

Dispatch asks the dialects in order of priority, name breaking ties; the first that claims a span reads it, so exactly
one does. A span that no dialect claims is kept as an observation of kind "other": it may still be a parent.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeVar

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._libraries import library_of
from otel_toolselect.dialects._loose import covering
from otel_toolselect.dialects._source import Dialect, Plans, Signal, Source
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.quick import maker
from otel_toolselect.model.spans import LogRecord, Span, tenant_of
from otel_toolselect.registry import discover

__all__ = ["UNCLAIMED", "Dialect", "all_dialects", "dialect_of", "hints", "read"]

UNCLAIMED = "none"
_make_source = maker(Source)


@cache
def all_dialects() -> tuple[Dialect, ...]:
    """All dialects, first asked first."""
    found: list[Dialect] = list(discover(__name__).values())
    return tuple(sorted(found, key=lambda d: (-d.priority, d.name)))


def dialect_of(span: Span) -> Dialect | None:
    """The dialect that reads a span."""
    return _claim(span)[0]


def _claim(span: Span) -> tuple[Dialect | None, Plans]:
    look = (span.scope_name, *span.attributes)
    try:
        return _claimed[look]
    except KeyError:
        return _claim_anew(look, span)


# Who claims spans of one look: scope and attribute names, which is all that a claim may hang on. Few, unless somebody
# makes names up: so their number and their size are limited.
_claimed: dict[tuple[str, ...], tuple[Dialect | None, Plans]] = {}
_LOOKS = 1024
_NAMES = 8192  # characters


def _claim_anew(look: tuple[str, ...], span: Span) -> tuple[Dialect | None, Plans]:
    claims = (d for d in all_dialects() if d.claims(span.scope_name, span.attributes.keys()))
    found = (next(claims, None), Plans())
    if sum(map(len, look)) <= _NAMES:
        if len(_claimed) >= _LOOKS:
            _claimed.clear()
        _claimed[look] = found
    return found


def hints(dialect: str, scopes: Iterable[str]) -> dict[str, str]:
    """Switch by what is missing, for spans of these scopes that a dialect read: the libraries' own, else the
    dialect's.
    """
    known = next((dict(d.hints) for d in all_dialects() if d.name == dialect), {})
    for scope in sorted(scopes):
        library = library_of(scope)
        if library is not None:
            known |= library.hints()
    return known


def read(spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> list[Observation]:
    """Reads spans and the log records that belong to them. Pure; any order, repeats are dropped.

    Of several versions of one span (a sender that exports a span again once it is complete) the fullest is read.
    A log record without a span id belongs to the one span of its scope and service whose time covers it, if there is
    exactly one; else it is left out.

    What tenants send is read apart, whatever ids it bears: anybody can send any.
    """
    held, told = _by_tenant(spans), _by_tenant(logs)
    return [o for tenant in sorted(held) for o in _read_one_tenant(held[tenant], told.get(tenant, ()))]


_Record = TypeVar("_Record", Span, LogRecord)


def _by_tenant(records: Iterable[_Record]) -> dict[str, list[_Record]]:
    found: dict[str, list[_Record]] = defaultdict(list)
    for record in records:
        found[tenant_of(record.resource)].append(record)
    return found


def _read_one_tenant(spans: Sequence[Span], logs: Sequence[LogRecord]) -> list[Observation]:
    chosen = distinct(spans)
    by_span: dict[tuple[str, str], list[LogRecord]] = defaultdict(list)
    loose: list[LogRecord] = []
    for log in logs:
        if log.span_id:
            by_span[log.trace_id, log.span_id].append(log)
        else:
            loose.append(log)
    for key, log in covering(loose, chosen):
        by_span[key].append(log)
    observations: list[Observation] = []
    for span in chosen:
        dialect, plans = _claim(span)
        if dialect is None:
            observations.append(Observation(span, UNCLAIMED, "other"))
            continue
        mine = by_span.get((span.trace_id, span.span_id), ()) if by_span else ()
        signals = _signals(span, mine) if mine or span.events else ()
        observations.append(_read(dialect, _make_source(span, signals, plans)))
    return observations


def _read(dialect: Dialect, source: Source) -> Observation:
    """One span. A dialect that fails on a span nobody foresaw costs that span, not the rest."""
    try:
        return dialect.read(source)
    except Exception as error:  # noqa: BLE001 dialects come from plug-ins too; the fault is kept and reported
        return Observation(source.span, dialect.name, "other", fault=f"{type(error).__name__}: {error}")


def distinct(spans: Iterable[Span]) -> list[Span]:
    """One span per id, in a fixed order; the choice among versions does not depend on the order of arrival."""
    best: dict[tuple[str, str], Span] = {}
    for span in spans:
        key = (span.trace_id, span.span_id)
        known = best.get(key)
        if known is None or (known is not span and _fullness(span) > _fullness(known)):
            best[key] = span
    return sorted(best.values(), key=lambda s: (s.trace_id, s.order_ns, s.span_id))


def _fullness(span: Span) -> tuple[int, int, int, str, str]:
    """The last is for versions that say as much, of which always the same one has to be chosen: they may differ in
    what a collector on one of two ways adds to a resource.
    """
    text = json.dumps([span.name, span.status_code, dict(span.attributes)], sort_keys=True, default=str)
    return (span.end_ns, len(span.attributes), len(span.events), text, repr(span))


def _signals(span: Span, logs: Sequence[LogRecord]) -> tuple[Signal, ...]:
    events = [Signal(e.name, dict(e.attributes)) for e in span.events]
    if not logs:
        return tuple(events)
    records = {(log.time_ns or log.observed_ns, _rank(log), _text(log)): log for log in logs}
    ordered = [records[k] for k in sorted(records)]
    return tuple(events + [Signal(_name(log), dict(log.attributes), _body(log)) for log in ordered])


def _name(log: LogRecord) -> str:
    return log.event_name or str(log.attributes.get("event.name") or log.attributes.get("event_name") or "")


def _rank(log: LogRecord) -> int:
    """Position among records of the same time, where the sender gives one."""
    for key in ("CHAT_MESSAGE_INDEX", "index"):
        found = coerce.integer(log.attributes.get(key))
        if found is not None:
            return found
    body = log.body if isinstance(log.body, dict) else {}
    return coerce.integer(body.get("index")) or 0


def _text(log: LogRecord) -> str:
    return json.dumps([_name(log), log.body, dict(log.attributes)], sort_keys=True, default=str)


def _body(log: LogRecord) -> object:
    return {} if log.body is None else log.body
