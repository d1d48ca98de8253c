"""Evaluation on demand: runs against a suite or rule file, and what follows from a label. Pure: nothing is kept, no
judge is asked (what hangs on a question about free text is needs_review).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from otel_toolselect import app
from otel_toolselect.config import Settings
from otel_toolselect.errors import InputError, NotFoundError, TooLargeError
from otel_toolselect.model.answers import Evaluation, Judgement, ServedSuite, SuiteKind
from otel_toolselect.model.runs import TENANT, Run
from otel_toolselect.model.spans import Attributes, LogRecord, Span

if TYPE_CHECKING:
    from otel_toolselect.judge.panel import Panel
    from otel_toolselect.rules import Suite
    from otel_toolselect.rules.rulefiles import RuleFile

Held: TypeAlias = "Suite | RuleFile"
Check = Callable[[], None]
TEXT_BYTES = 1_048_576
"""Of a suite in a request."""


def parse(text: str, file_name: str) -> Held:
    """A suite or rule file from its text. Raises SuiteError with every mistake, InputError, TooLargeError."""
    from otel_toolselect.rules.loader import parse_suite
    from otel_toolselect.rules.rulefiles import parse_rules
    from otel_toolselect.rules.sniffing import kind_of_file

    if len(text.encode("utf-8", "replace")) > TEXT_BYTES:
        raise TooLargeError(f"a suite in a request may have {TEXT_BYTES:,} bytes", where=file_name)
    kind = kind_of_file(text, file_name)
    if kind not in ("suite", "rules"):
        raise InputError(f"this is a file of {kind}; a suite or a rule file is needed", where=file_name)
    return parse_rules(text, path=file_name) if kind == "rules" else parse_suite(text, path=file_name)


def served(panel: Panel | None) -> tuple[ServedSuite, ...]:
    """What a server judges by, in order of kind and name."""
    if panel is None:
        return ()
    suites = [ServedSuite(s.name, "suite", s.version, len(s.cases)) for s in panel.suites]
    rules = [ServedSuite(r.name, "rules", r.version, len(r.rules)) for r in panel.rules]
    return (*sorted(suites, key=lambda s: s.name), *sorted(rules, key=lambda s: s.name))


def named(panel: Panel | None, name: str) -> Held:
    """The suite, or else the rule file, of that name. Raises NotFoundError."""
    held: Sequence[Held] = () if panel is None else (*panel.suites, *panel.rules)
    for one in held:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in held) or "none: `serve` was started without --suite and --rules"
    raise NotFoundError(f"no suite or rule file {name!r} here; there are {known}")


def held_to(held: Held, runs: Sequence[Run], only: Collection[str] | None, check: Check) -> Evaluation:
    """Runs under a suite or rule file. `only`: ids of those that are asked about; the others are there because nested
    runs are understood by what is around them. `check` is called before each run.
    """
    from otel_toolselect.judge import judge
    from otel_toolselect.judge.policies import judge_rules
    from otel_toolselect.rules import Suite

    wanted = {run.run_id for run in runs if only is None or run.run_id in only}
    kind: SuiteKind = "suite" if isinstance(held, Suite) else "rules"
    if isinstance(held, Suite):
        found = [Judgement(verdict) for verdict in judge(_checked(runs, check), held).runs]
    else:
        rulings = judge_rules(_checked(runs, check), held).rulings
        found = [Judgement(ruling.verdict, ruling.severity) for ruling in rulings]
    found = [one for one in found if one.verdict.run_id in wanted]
    matched = {one.verdict.run_id for one in found}
    return Evaluation(held.name, kind, tuple(found), len(wanted), len(wanted - matched))


def _checked(runs: Iterable[Run], check: Check) -> Iterator[Run]:
    for run in runs:
        check()
        yield run


def read_spans(traces: bytes, logs: bytes, tenant: str | None, settings: Settings) -> tuple[list[Run], tuple[str, ...]]:
    """Runs of OTLP messages as they would be if that tenant, or (None) somebody without one, had sent them to the
    receiver; and what was put right or left out. Raises DecodeError, TooLargeError.
    """
    from otel_toolselect.otlp import Limits, decode_logs_proto, decode_traces_proto
    from otel_toolselect.otlp.census import holds_more

    most = settings.limits.messages
    if holds_more(traces, "traces", most) or holds_more(logs, "logs", most):
        raise TooLargeError(f"more than {most} messages: send fewer spans at once", where="traces_data, logs_data")
    limits = Limits(max_bytes=settings.limits.request_bytes, max_depth=settings.limits.depth)
    read = decode_traces_proto(traces, limits, where="traces_data")
    told = decode_logs_proto(logs, limits, where="logs_data") if logs else None
    records = told.logs if told is not None else ()
    if len(read.spans) + len(records) > settings.limits.spans:
        raise TooLargeError(f"more than {settings.limits.spans} spans and log records", where="traces_data")
    warnings = [*read.warnings, *(f"{r.where}: left out, {r.reason}" for r in read.rejected_spans)]
    if told is not None:
        warnings += [*told.warnings, *(f"{r.where}: left out, {r.reason}" for r in told.rejected_logs)]
    owned = partial(_owned, tenant, {})
    return app.runs_of(map(owned, read.spans), map(owned, records), settings), tuple(warnings[:_MOST_WARNINGS])


_Record = TypeVar("_Record", Span, LogRecord)


def _owned(tenant: str | None, known: dict[int, Attributes], record: _Record) -> _Record:
    """A record with the tenant of who sent it, whatever it claims itself. `known`: resources that were made so."""
    claimed = record.resource
    if id(claimed) not in known:
        others = {key: value for key, value in claimed.items() if key != TENANT}
        known[id(claimed)] = others if tenant is None else others | {TENANT: tenant}
    return replace(record, resource=known[id(claimed)])


_MOST_WARNINGS = 100


def with_warnings(evaluation: Evaluation, warnings: tuple[str, ...]) -> Evaluation:
    return replace(evaluation, warnings=warnings)
