"""Which rows of `judgements` a filter of runs means. Values are bound, as in `queries`.

Every judged run has one row without an expectation (Suite ''), which bears its facts: that is the row that is listed.
What an expectation says is asked of the other rows of the run, by a sub-query.
"""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.store.browse_api import TEXT_SEARCHED, Mark, RunFilter
from otel_toolselect.store.queries import MAX_TIME_NS

_SAID = ("suite", "status", "failure", "owner", "origin", "expected", "observed")
_SAID_MARKS: tuple[Mark, ...] = ("forbidden", "unauthorized", "infra", "catalog_gap")
_EITHER = {"case": "CaseId", "first_action": "FirstAction"}
_FACTS = {
    "agent": "Agent", "service": "ServiceName", "model": "Model", "provider": "Provider", "prompt": "PromptVersion",
    "catalog": "CatalogId", "tenant": "Tenant", "label": "Label",
}  # fmt: skip
_SAYS = {"status": "Status", "failure": "Failure", "owner": "Owner", "origin": "Origin"}
_MARKS: dict[Mark, str] = {
    "ghost": "notEmpty(Ghosts)",
    "forbidden": "notEmpty(Forbidden)",
    "unauthorized": "notEmpty(Unauthorized)",
    "failed_call": "FailedCalls > 0",
    "loop": "Loops > 0",
    "redundant": "has(CallsRedundant, 1)",
    "incomplete": "Excluded = 'incomplete'",
    "infra": "Excluded = 'infra'",
    "catalog_gap": "Excluded = 'catalog_gap'",
}
_ID = re.compile(r"[0-9a-fA-F-]{4,}")


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of the window, [since, until) in nanoseconds; None: open."""

    since_ns: int | None = None
    until_ns: int | None = None

    @property
    def empty(self) -> bool:
        return self.since_ns is not None and self.until_ns is not None and self.since_ns >= self.until_ns


@dataclass(slots=True)
class Conditions:
    """Texts that all must hold, with the values that they name."""

    texts: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)

    def add(self, text: str, **params: Any) -> None:
        self.texts.append(text)
        self.params |= params

    def __str__(self) -> str:
        return "\n    AND ".join(self.texts)


def listed(of: RunFilter, tenant: str | None, part: Slice) -> Conditions:
    """Conditions on the rows without an expectation: those of runs that fit the filter and start in the slice."""
    found = Conditions(["Suite = ''", "Gone = 0"])
    limit(found, tenant, part)
    for name, column in _FACTS.items():
        _one_of(found, name, column, getattr(of, name))
    said = _is_said(of)
    for mark in of.has:
        if mark not in _SAID_MARKS:
            found.add(_MARKS[mark])
    if said:
        inner = _said(of, tenant, part)
        found.add(f"(Hour, RunId) IN (\n        SELECT Hour, RunId FROM judgements FINAL\n        WHERE {inner})")
        found.params |= inner.params
    else:
        _actions(found, of)
    if of.text:
        _text(found, of.text, part)
    return found


def limit(found: Conditions, tenant: str | None, part: Slice) -> None:
    """To one tenant and to a stretch of time: whole hours by the key of the table, then exactly."""
    if tenant is not None:
        found.add("Tenant = {only:String}", only=tenant)
    _hours(found, part)
    if part.since_ns is not None:
        found.add("StartNs >= {since:UInt64}")
    if part.until_ns is not None:
        found.add("StartNs < {until:UInt64}")


def _hours(found: Conditions, part: Slice) -> None:
    if part.since_ns is not None:
        hour = "toDateTime(least(intDiv({since:UInt64}, 3600000000000) * 3600, 4294792800), 'UTC')"
        found.add(f"Hour >= {hour}", since=_time(part.since_ns))
    if part.until_ns is not None:
        hour = "toDateTime(least(intDiv({until:UInt64}, 1000000000), 4294792800), 'UTC')"
        found.add(f"Hour <= {hour}", until=_time(part.until_ns))


def _is_said(of: RunFilter) -> bool:
    return any(getattr(of, name) for name in _SAID) or any(mark in _SAID_MARKS for mark in of.has)


def _said(of: RunFilter, tenant: str | None, part: Slice) -> Conditions:
    """One row of an expectation fits all that is asked of expectations."""
    found = Conditions(["Gone = 0"])
    limit(found, tenant, part)
    if of.suite:
        # names of suites first, so that the key of the table is of use; then FILE/RULE exactly
        files = sorted({*of.suite, *(name[:i] for name in of.suite for i, c in enumerate(name) if c == "/")})
        found.add("Suite IN {files:Array(String)}", files=files)
        exact = "(Suite IN {suite:Array(String)} OR concat(Suite, '/', Rule) IN {suite:Array(String)})"
        found.add(exact, suite=list(of.suite))
    else:
        found.add("Suite != ''")
    if not of.origin:
        found.add("Counts = 1")
    for name, column in _SAYS.items():
        _one_of(found, name, column, getattr(of, name))
    _cell(found, of)
    for mark in of.has:
        if mark in _SAID_MARKS:
            found.add(_MARKS[mark])
    _actions(found, of)
    return found


def _cell(found: Conditions, of: RunFilter) -> None:
    fits = []
    for name, values in (("e", of.expected), ("o", of.observed)):
        if values:
            bound = "expected" if name == "e" else "observed"
            fits.append(f"has({{{bound}:Array(String)}}, toString({name}))")
            found.params[bound] = list(values)
    if fits:
        found.add(f"arrayExists((e, o) -> {' AND '.join(fits)}, Expected, Observed)")


def _actions(found: Conditions, of: RunFilter) -> None:
    for name, column in _EITHER.items():
        _one_of(found, name, column, getattr(of, name))
    if of.called:
        found.add("arrayExists(c -> has({called:Array(String)}, toString(c)), Calls)", called=list(of.called))


def _one_of(found: Conditions, name: str, column: str, values: tuple[str, ...]) -> None:
    if values:
        found.add(f"{column} IN {{{name}:Array(String)}}", **{name: list(values)})


def _text(found: Conditions, text: str, part: Slice) -> None:
    """In the texts of the same hours; what looks like one may also be the beginning of an id."""
    inner = Conditions(["Text LIKE lowerUTF8({text:String})"], {"text": f"%{_escaped(text[:TEXT_SEARCHED])}%"})
    _hours(inner, part)
    fits = [f"(Hour, RunId) IN (SELECT Hour, RunId FROM run_texts FINAL WHERE {inner})"]
    found.params |= inner.params
    if _ID.fullmatch(text.strip()):
        fits += ["startsWith(RunId, {begin:String})", "startsWith(TraceId, {begin:String})"]
        found.params["begin"] = text.strip().lower()
    found.add(f"({' OR '.join(fits)})")


def _escaped(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


def _time(ns: int) -> int:
    return max(0, min(ns, MAX_TIME_NS))
