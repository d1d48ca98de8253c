"""What a page or an API call asks for, and the query parameters of its address: one vocabulary for all of them, so that
a filtered view can be shared as a link and a link of one page can be carried over to another.

    since=24h&agent=support&status=fail&expected=refund&observed=search&sort=-start&size=50&cursor=...

Parameters may repeat where a filter takes several values. Times are relative (`30m`, `24h`, `7d`: that long before now)
or absolute (`2026-11-02`, `2026-11-02T10:00:00Z`), and kept as they were given: a shared `24h` stays the last day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from otel_toolselect.app.times import moment
from otel_toolselect.errors import UsageError
from otel_toolselect.model.alerting import Scope, Window
from otel_toolselect.model.decisions import LABELS
from otel_toolselect.store.browse_api import MARKS, MOST_ROWS, SORTS, Mark, RunFilter, Sort

Pairs = Sequence[tuple[str, str]]
DEFAULT_SINCE = "7d"
DEFAULT_SIZE = 50
MOST_VALUES = 50
"""Values of one filter at most: they travel to the store in the address of a request."""
MOST_CHARACTERS = 400
_STATUSES = ("pass", "fail", "needs_review", "excluded", "n/a")
_ORIGINS = ("suite", "rule", "attribute", "person", "judge")
_MAX_NS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Filters:
    """See `store.browse_api.RunFilter` for what the filters mean. `since` "" is since ever, `until` "" is now. `sort`
    as in the address: `-start` is the latest first. Equal filters have equal addresses.
    """

    since: str = DEFAULT_SINCE
    until: str = ""
    suite: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    catalog: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    case: tuple[str, ...] = ()
    first_action: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    has: tuple[Mark, ...] = ()
    text: str = ""
    sort: str = "-start"
    size: int = DEFAULT_SIZE
    cursor: str = ""

    @classmethod
    def parse(cls, parameters: str | Iterable[tuple[str, str]]) -> Filters:
        """Of a query string, or of decoded pairs. Parameters that are no filter are left to the page. Raises UsageError
        that names the parameter.
        """
        pairs = _pairs(parameters)
        known = {field.name for field in fields(cls)}
        given: dict[str, list[str]] = {}
        for name, value in pairs:
            if name in known:
                given.setdefault(name, []).append(value)
        read: dict[str, Any] = {}
        for name, values in given.items():
            if name in _SINGLE:
                read[name] = _SINGLE[name](name, values[-1])
            else:
                read[name] = _values(name, values)
        return cls(**read)

    def pairs(self) -> list[tuple[str, str]]:
        """Query parameters in a fixed order, those left out that say what holds anyway."""
        found: list[tuple[str, str]] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            found += [(field.name, one) for one in value] if isinstance(value, tuple) else [(field.name, str(value))]
        return found

    def query(self, **changes: Any) -> str:
        """The query string of these filters with some changed; any change but of `cursor` goes to the first page."""
        changed = self.changed(**changes) if changes else self
        return urlencode(changed.pairs(), errors="surrogatepass")

    def changed(self, **changes: Any) -> Filters:
        """A single text stands for a filter of one value, None for none. A change leads to the first page."""
        defaults = {field.name: field.default for field in fields(self)}
        made: dict[str, Any] = {} if "cursor" in changes else {"cursor": ""}
        for name, value in changes.items():
            if value is None:
                made[name] = defaults[name]
            elif isinstance(defaults[name], tuple) and isinstance(value, str):
                made[name] = (value,)
            else:
                made[name] = tuple(value) if isinstance(value, list) else value
        return replace(self, **made)

    def without(self, name: str, value: str) -> Filters:
        """One value of one filter taken away, as the cross beside it does."""
        kept = tuple(one for one in getattr(self, name) if one != value)
        return self.changed(**{name: kept})

    @property
    def order(self) -> Sort:
        return self.sort.removeprefix("-")  # type: ignore[return-value]  # checked by `parse`

    @property
    def descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """(filter, value) of everything that limits, without time, order and page."""
        return tuple(
            (name, value) for name, value in self.pairs() if name not in ("since", "until", "sort", "size", "cursor")
        )

    def window(self, now_ns: int) -> Window:
        """The stretch of time. Raises UsageError when it ends before it begins."""
        since = moment(self.since, now_ns=now_ns) if self.since else 0
        until = moment(self.until, now_ns=now_ns) if self.until else None
        start = min(max(since or 0, 0), _MAX_NS)
        end = _MAX_NS if until is None else min(max(until, 0), _MAX_NS)
        if end <= start:
            raise UsageError("until: the window would end before it begins")
        return Window(start, end)

    def runs(self, now_ns: int) -> RunFilter:
        """The filter of runs, with times that stand."""
        window = self.window(now_ns)
        shared = {f.name: getattr(self, f.name) for f in fields(RunFilter) if f.name not in ("since_ns", "until_ns")}
        open_end = window.end_ns == _MAX_NS
        return RunFilter(since_ns=window.start_ns or None, until_ns=None if open_end else window.end_ns, **shared)

    def scope(self, tenant: str | None) -> Scope:
        """What figures over windows are limited to: those filters that a figure knows. A name of a suite stands for a
        suite and for a rule file alike.
        """
        tenants = self.tenant if tenant is None else (tenant,)
        return Scope(
            suite=self.suite,
            policy=tuple(name for name in self.suite if name != LABELS),
            agent=self.agent,
            service=self.service,
            model=self.model,
            prompt=self.prompt,
            catalog=self.catalog,
            tenant=tenants,
            origin=self.origin,
        )


def _pairs(parameters: str | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    if not isinstance(parameters, str):
        return list(parameters)
    try:
        return parse_qsl(parameters.removeprefix("?"), keep_blank_values=True, max_num_fields=1_000)
    except ValueError as error:
        raise UsageError("the address has more than 1,000 parameters") from error


def _values(name: str, values: list[str]) -> tuple[str, ...]:
    """Each value once, as given; an empty one is the choice "any" of a form."""
    found = tuple(dict.fromkeys(_text(name, value) for value in values if value))
    if len(found) > MOST_VALUES:
        raise UsageError(f"{name}: {MOST_VALUES} values at most, not {len(found)}")
    for value in found:
        allowed = _WORDS.get(name)
        if allowed is not None and value not in allowed:
            raise UsageError(f"{name}: {value!r} is not one of {', '.join(allowed)}")
    return found


def _text(name: str, value: str) -> str:
    if len(value) > MOST_CHARACTERS:
        raise UsageError(f"{name}: {MOST_CHARACTERS} characters at most, not {len(value)}")
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def _time(name: str, value: str) -> str:
    try:
        moment(value or None, now_ns=0)
    except (UsageError, OverflowError) as error:
        raise UsageError(f"{name}: {value!r} is no time; write 30m, 24h, 7d or 2026-01-31T12:00:00Z") from error
    return value.strip()


def _sort(name: str, value: str) -> str:
    if value.removeprefix("-") not in SORTS:
        raise UsageError(f"{name}: {value!r} is not one of {', '.join(SORTS)}, or one of them after a minus")
    return value


def _size(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MOST_ROWS):
        raise UsageError(f"{name}: {value!r} is no number from 1 to {MOST_ROWS}")
    return int(value)


_SINGLE = {"since": _time, "until": _time, "text": _text, "sort": _sort, "size": _size, "cursor": _text}
_WORDS = {"status": _STATUSES, "origin": _ORIGINS, "has": MARKS}
