"""Log lines of a server: text or JSON, without content, and without floods.

No content, by construction and not by care alone: of an error only its type and where it happened are written, never
its text, which may quote what was being read or stored; messages of other libraries are written as the templates that
they are, and only of libraries whose templates were looked at. Our own messages hold names, counts and kinds of errors.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import Literal, TextIO

from otel_toolselect.telemetry.repeats import Repeats

Form = Literal["text", "json"]
OWN = "otel_toolselect"
LEFT_OUT = "a message of this library, left out: it may hold content"
_KNOWN = ("uvicorn.", "grpc.", "opentelemetry.")
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "repeated"}
_FRAMES = 12


def configure(form: Form, level: str, stream: TextIO | None = None) -> Callable[[], None]:
    """Every log line of this process goes to `stream` (stderr) in one form; returns what undoes it.

    `level` is for our own lines. Other libraries may only warn: what they say at lower levels is made of content.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())
    repeats = Repeats(handler)
    root, own = logging.getLogger(), logging.getLogger(OWN)
    before, levels, hook = root.handlers[:], (root.level, own.level), threading.excepthook
    root.handlers[:] = [repeats]
    root.setLevel(logging.WARNING)
    own.setLevel(level.upper())
    threading.excepthook = _thread_ended

    def undo() -> None:
        repeats.close()
        root.handlers[:], threading.excepthook = before, hook
        root.setLevel(levels[0])
        own.setLevel(levels[1])

    return undo


def _thread_ended(args: threading.ExceptHookArgs) -> None:
    """Instead of a traceback with the error's text on stderr."""
    name = args.thread.name if args.thread else "?"
    found = None if args.exc_value is None else (args.exc_type, args.exc_value, args.exc_traceback)
    logging.getLogger(OWN).critical("the thread %s ended by an error", name, exc_info=found)


class _TextFormatter(logging.Formatter):
    """`toolselect: WARNING: message field=value (12 times more)`, on one line whatever the values hold."""

    def format(self, record: logging.LogRecord) -> str:
        parts = [message_of(record)]
        parts += [f"{name}={value}" for name, value in fields_of(record).items()]
        if repeated := getattr(record, "repeated", 0):
            parts.append(f"({repeated} times more)")
        if error := error_of(record):
            parts.append(f"[{error[0]} at {' < '.join(reversed(error[1])) or '?'}]")
        return _one_line(f"toolselect: {record.levelname}: {' '.join(parts)}")


class _JsonFormatter(logging.Formatter):
    """One object a line: time (UTC, ISO 8601), level, logger, message, the fields, `repeated`, `error`, `stack`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message_of(record),
        }
        if repeated := getattr(record, "repeated", 0):
            line["repeated"] = repeated
        if error := error_of(record):
            line["error"], line["stack"] = error
        return json.dumps(fields_of(record) | line)  # a field never replaces one of ours


def message_of(record: logging.LogRecord) -> str:
    if _is_own(record):
        return record.getMessage()
    if not record.name.startswith(_KNOWN):
        return f"{LEFT_OUT} ({PurePath(record.pathname).name}:{record.lineno})"
    args = record.args if isinstance(record.args, tuple) else ()
    try:
        return str(record.msg) % tuple(a if isinstance(a, int | float) else "…" for a in args)
    except (TypeError, ValueError):  # a %d that got text, a percent sign that is none
        return str(record.msg)


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """What our own code passed as `extra`; values that are no scalars are told by their type."""
    if not _is_own(record):
        return {}
    found = {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
    return {n: v if isinstance(v, str | int | float | None) else type(v).__name__ for n, v in found.items()}


def error_of(record: logging.LogRecord) -> tuple[str, list[str]] | None:
    """The type of the error of a record and its innermost frames, outermost first; never its text."""
    if not record.exc_info or record.exc_info[1] is None:
        return None
    error = record.exc_info[1]
    return type(error).__name__, _frames(error.__traceback__)


def _frames(trace: TracebackType | None) -> list[str]:
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(f"{PurePath(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return found[-_FRAMES:]


def _is_own(record: logging.LogRecord) -> bool:
    return record.name == OWN or record.name.startswith(OWN + ".")


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
