"""Labels as files, to be given by other tools and to be kept elsewhere: JSON lines and CSV (R14).

A record names `run_id` (or enough of it), `by`, and one of `expected` (a list, or one text parted by commas) and
`wrong: true`; `note` and `at` (RFC 3339) may be there. Exports hold more, which an import leaves alone.
Only labels of people are imported: a judge's come from asking it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from otel_toolselect.app.labels import Desk
from otel_toolselect.errors import InputError, Problem, SuiteError, UsageError
from otel_toolselect.model.labels import Label

MAX_BYTES = 256 * 2**20
_COLUMNS = (
    "run_id", "trace_id", "source", "by", "expected", "wrong", "first_action", "note", "at", "agent", "model",
    "prompt_version", "catalog_id", "stratum", "chance",
)  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    fields: Mapping[str, Any]


def record_of(label: Label) -> dict[str, Any]:
    """A label as JSON; what is not known is absent."""
    found: dict[str, Any] = {
        "run_id": label.run_id,
        "trace_id": label.trace_id,
        "source": label.source,
        "by": label.labeller,
        "expected": list(label.expected),
        "wrong": True if not label.expected else None,
        "first_action": label.first_action,
        "note": label.note,
        "at": _time_text(label.at_ns),
        "agent": label.agent,
        "model": label.model,
        "prompt_version": label.prompt_version,
        "catalog_id": label.catalog_id,
        "stratum": label.stratum,
        "chance": label.chance,
        "record": dict(label.record) or None,
        "withdrawn": label.withdrawn or None,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


def json_lines(labels: Iterable[Label]) -> Iterator[str]:
    for label in labels:
        yield json.dumps(record_of(label), ensure_ascii=False) + "\n"


def csv_text(labels: Iterable[Label]) -> Iterator[str]:
    """One row per label; `expected` parted by commas. A judge's questions have no column."""
    yield ",".join(_COLUMNS) + "\n"
    for label in labels:
        record = record_of(label)
        record["expected"] = ",".join(label.expected)
        record["wrong"] = "true" if not label.expected else ""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow([record.get(name, "") for name in _COLUMNS])
        yield out.getvalue()


def read_labels(path: str, desk: Desk) -> list[Label]:
    """The labels of a file. Raises SuiteError with every problem, in which case none is to be kept."""
    labels: list[Label] = []
    problems: list[Problem] = []
    for row in _rows(path):
        try:
            labels.append(_label(row.fields, desk))
        except (UsageError, ValueError) as error:
            problems.append(Problem(path, row.line, 1, str(error)))
    if problems:
        raise SuiteError(problems)
    return labels


def _rows(path: str) -> Iterator[_Row]:
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise InputError(f"a file of labels may have {MAX_BYTES:,} bytes", where=path)
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=path) from error
    if Path(path).suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""))
        for found in reader:
            yield _Row(reader.line_num, {key: value for key, value in found.items() if key and value})
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _Row(number, _object(line, f"{path}:{number}"))


def _object(line: str, where: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", where=where) from error
    if not isinstance(value, dict):
        raise InputError("a label must be a JSON object", where=where)
    return value


def _label(fields: Mapping[str, Any], desk: Desk) -> Label:
    if fields.get("source", "person") != "person":
        raise ValueError("only labels of people can be imported; take lines with another source out")
    by, run_id, note = (_text(fields, key) for key in ("by", "run_id", "note"))
    if not by or not run_id:
        raise ValueError('a label names run_id and by: {"run_id": "...", "by": "ann", "expected": ["search"]}')
    expected = fields.get("expected", [])
    names = expected.split(",") if isinstance(expected, str) else expected
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("expected must be a list of first actions, or one text parted by commas")
    wrong = fields.get("wrong") in (True, "true", "1", "yes")
    if bool(names) == wrong:
        raise ValueError("a label says either what was expected or wrong: true")
    run = desk.run(run_id)
    at_ns = _time(_text(fields, "at")) if fields.get("at") else None
    return desk.label(run, by, desk.checked(run, names, strange=True), note=note, at_ns=at_ns)


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a text, not {value!r}")
    return value.strip()


def _time(text: str) -> int:
    try:
        when = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"at: {text!r} is no time; write 2026-01-31T12:00:00Z") from error
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0, (when - _EPOCH) // timedelta(microseconds=1) * 1000)


def _time_text(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
