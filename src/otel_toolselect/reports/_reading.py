"""A `toolselect.report/1` document back into a Report, so that a gate and a comparison work from files.

All figures are counted again from the runs: a report whose sums were edited by hand does not pass for what it is not.
Members that older writers left out are taken as not recorded; cells then come from the selection evidence (the observed
first action against what was allowed). A run named twice is an error, because it would count twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import LAYERS, CallScore, Cell, Layer, LayerVerdict, RunVerdict, SuiteVerdicts
from otel_toolselect.stats import report

SCHEMA = "toolselect.report/1"
STATUSES = ("pass", "fail", "n/a", "excluded", "needs_review")
EXCLUSIONS = ("infra", "catalog_gap", "incomplete")
HUGE = 10**15  # beyond any count or duration; NaN and infinity are refused with it
MAX_BYTES = 512 * 1024 * 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_report(path: str) -> Report:
    """The report in a file. Raises InputError naming file and member."""
    try:
        size = Path(path).stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{size:,} bytes, a report may have {MAX_BYTES:,}", where=path)
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", where=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=path) from error
    return parse_report(text, where=path)


def parse_report(text: str, *, where: str) -> Report:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}; a report is made by `toolselect score ... --format json -o FILE`",
            where=f"{where}:{error.lineno}",
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError("not a report: too deeply nested, or a number too long", where=where) from error
    return _Reader(where).report(document)


class _Reader:
    """Reads members with the types that they must have; `where` grows with the path of the member."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, member: str, message: str) -> InputError:
        return InputError(f"{member}: {message}", where=self.where)

    def report(self, document: object) -> Report:
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            said = document.get("schema") if isinstance(document, dict) else None
            raise self.fail("schema", f"{said!r} is not {SCHEMA!r}; make one with `toolselect score ... --format json`")
        suite = self.text(document, "suite", "suite", needed=True) or ""
        entries = self.items(document, "runs", "")
        runs: dict[str, RunVerdict] = {}
        facts: dict[str, RunFacts] = {}
        for i, entry in enumerate(entries):
            at = f"runs[{i}]"
            if not isinstance(entry, dict):
                raise self.fail(at, "must be an object")
            run = self.run(entry, suite, at)
            if run.run_id in runs:
                raise self.fail(f"{at}.run_id", f"{run.run_id!r} stands twice")
            runs[run.run_id] = run
            if entry.get("tools_used") is not None:
                facts[run.run_id] = self.facts(entry, at)
        without = self.texts(document, "cases_without_run", "") or ()
        unmatched = self.whole(document, "unmatched_runs", "") or 0
        verdicts = SuiteVerdicts(suite, tuple(runs.values()), (), unmatched, without, facts, self.groups(document))
        return report(verdicts)

    def groups(self, document: Mapping[str, Any]) -> dict[str, CaseGroup]:
        groups = self.object(document, "groups", "")
        found = self.object(groups, "of_cases", "groups")
        known = {}
        for case_id in found:
            entry = self.object(found, case_id, "groups.of_cases")
            known[case_id] = CaseGroup(
                self.text(entry, "id", case_id, needed=True) or "", self.text(entry, "relation", case_id) or "same"
            )
        return known

    def run(self, entry: Mapping[str, Any], suite: str, at: str) -> RunVerdict:
        layers = self.layers(entry, at)
        first = self.text(entry, "first_action", at, needed=True) or ""
        excluded = self.text(entry, "excluded", at)
        if excluded is None and any(layer.status == "excluded" for layer in layers.values()):
            excluded = "infra" if entry.get("failure") == "infrastructure" else "incomplete"
        if excluded is not None and excluded not in EXCLUSIONS:
            raise self.fail(f"{at}.excluded", f"{excluded!r} is none of {', '.join(EXCLUSIONS)}")
        tags = self.object(entry, "tags", at)
        return RunVerdict(
            run_id=self.text(entry, "run_id", at, needed=True) or "",
            trace_id=self.text(entry, "trace_id", at) or "",
            suite=suite,
            case_id=self.text(entry, "case_id", at, needed=True) or "",
            first_action=first,
            observed_class=self.text(entry, "observed_class", at) or "",
            layers=layers,
            parent_run_id=self.text(entry, "parent_run_id", at),
            attempt=self.whole(entry, "attempt", at),
            tags={name: str(value) for name, value in tags.items()},
            cells=() if excluded else self.cells(entry, layers, first, at),
            call_scores=self.scores(entry, at),
            excluded=excluded,  # type: ignore[arg-type]
            start_ns=self.start(entry, at),
            **{name: self.text(entry, name, at) for name in _TEXTS},  # type: ignore[arg-type]
        )

    def layers(self, entry: Mapping[str, Any], at: str) -> dict[Layer, LayerVerdict]:
        found = self.object(entry, "layers", at)
        known: dict[Layer, LayerVerdict] = {}
        for layer in LAYERS:
            if layer not in found:
                continue
            verdict = self.object(found, layer, f"{at}.layers")
            status = self.text(verdict, "status", f"{at}.layers.{layer}", needed=True)
            if status not in STATUSES:
                raise self.fail(f"{at}.layers.{layer}.status", f"{status!r} is none of {', '.join(STATUSES)}")
            said = self.text(verdict, "explanation", f"{at}.layers.{layer}") or ""
            known[layer] = LayerVerdict(status, said, self.object(verdict, "evidence", f"{at}.layers.{layer}"))  # type: ignore[arg-type]
        return known

    def cells(
        self, entry: Mapping[str, Any], layers: Mapping[Layer, LayerVerdict], first: str, at: str
    ) -> tuple[Cell, ...]:
        if entry.get("cells") is None:
            allowed = layers["selection"].evidence.get("allowed") if "selection" in layers else None
            if not isinstance(allowed, list) or not allowed or not all(isinstance(name, str) for name in allowed):
                return ()
            return (Cell(first if first in allowed else allowed[0], first),)
        found = []
        for i, cell in enumerate(self.items(entry, "cells", at)):
            where = f"{at}.cells[{i}]"
            if not isinstance(cell, dict):
                raise self.fail(where, "must be an object")
            expected, observed = (self.text(cell, name, where, needed=True) or "" for name in ("expected", "observed"))
            found.append(Cell(expected, observed))
        return tuple(found)

    def scores(self, entry: Mapping[str, Any], at: str) -> tuple[CallScore, ...]:
        if entry.get("call_scores") is None:
            return ()
        found = []
        for i, score in enumerate(self.items(entry, "call_scores", at)):
            if not isinstance(score, dict) or not isinstance(score.get("passed"), bool):
                raise self.fail(f"{at}.call_scores[{i}]", "must be an object with seq, name and passed")
            where = f"{at}.call_scores[{i}]"
            found.append(
                CallScore(self.whole(score, "seq", where) or 0, self.text(score, "name", where) or "", score["passed"])
            )
        return tuple(found)

    def facts(self, entry: Mapping[str, Any], at: str) -> RunFacts:
        duration = self.number(entry, "duration_s", at)
        return RunFacts(
            agent=self.text(entry, "agent", at),
            provider=self.text(entry, "provider", at),
            duration_ns=None if duration is None else round(duration * 1e9),
            input_tokens=self.whole(entry, "input_tokens", at),
            output_tokens=self.whole(entry, "output_tokens", at),
            cost_usd=self.number(entry, "cost_usd", at),
            tools_offered=self.texts(entry, "tools_offered", at),
            tools_used=self.texts(entry, "tools_used", at) or (),
            effects={name: str(effect) for name, effect in self.object(entry, "effects", at).items()},
            calls=self.whole(entry, "calls", at) or 0,
            redundant=self.whole(entry, "redundant", at) or 0,
        )

    def start(self, entry: Mapping[str, Any], at: str) -> int:
        """Nanoseconds of `2026-01-31T12:00:00.123456789Z`; 0 where unset."""
        text = self.text(entry, "start", at)
        if text is None:
            return 0
        whole, _, rest = text.removesuffix("Z").partition(".")
        try:
            when = datetime.fromisoformat(whole)
            if when.tzinfo is not None or (rest and not rest.isdecimal()):
                raise ValueError(text)
            when = when.replace(tzinfo=UTC)
            nanos = int(rest.ljust(9, "0")[:9]) if rest else 0
        except ValueError as error:
            raise self.fail(f"{at}.start", f"{text!r} is no time; write 2026-01-31T12:00:00Z") from error
        return (when - _EPOCH) // timedelta(seconds=1) * 10**9 + nanos

    def text(self, entry: Mapping[str, Any], name: str, at: str, *, needed: bool = False) -> str | None:
        value = entry.get(name)
        if value is None and not needed:
            return None
        if not isinstance(value, str):
            raise self.fail(_path(at, name), f"must be a text, not {_kind(value)}")
        return value

    def texts(self, entry: Mapping[str, Any], name: str, at: str) -> tuple[str, ...] | None:
        value = entry.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fail(_path(at, name), "must be a list of texts")
        return tuple(value)

    def whole(self, entry: Mapping[str, Any], name: str, at: str) -> int | None:
        value = entry.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) > HUGE):
            raise self.fail(_path(at, name), f"must be a whole number, not {_kind(value)}")
        return value

    def number(self, entry: Mapping[str, Any], name: str, at: str) -> float | None:
        value = entry.get(name)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < HUGE
        ):
            raise self.fail(_path(at, name), f"must be a number, not {_kind(value)}")
        return value

    def items(self, entry: Mapping[str, Any], name: str, at: str) -> list[Any]:
        value = entry.get(name)
        if not isinstance(value, list):
            raise self.fail(_path(at, name), f"must be a list, not {_kind(value)}")
        return value

    def object(self, entry: Mapping[str, Any], name: str, at: str) -> dict[str, Any]:
        value = entry.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.fail(_path(at, name), f"must be an object, not {_kind(value)}")
        return value


_TEXTS = ("label", "request", "risk", "failure", "owner", "policy_version", "model", "prompt_version", "catalog_id")


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "nothing"}
    return names.get(type(value), "a number")
