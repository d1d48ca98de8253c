"""Log lines: their two forms, what never gets into them, and repeats."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest

from otel_toolselect.telemetry import logs
from otel_toolselect.telemetry.repeats import KINDS, Repeats

SECRET = "sk-live-51H"
log = logging.getLogger("otel_toolselect.somewhere")
foreign = logging.getLogger("somebody.else")


@pytest.fixture
def lines() -> Iterator[Callable[..., Callable[[], list[str]]]]:
    """Configures logging; the function that it gives returns the lines so far."""
    undo: list[Callable[[], None]] = []

    def start(form: logs.Form = "json", level: str = "debug") -> Callable[[], list[str]]:
        stream = io.StringIO()
        undo.append(logs.configure(form, level, stream))
        return lambda: stream.getvalue().splitlines()

    yield start
    for run in undo:
        run()


def test_a_json_line_has_time_level_logger_message_and_fields(lines) -> None:
    said = lines()
    log.warning("%d requests wait", 3, extra={"spool_bytes": 17, "odd": object(), "level": "mine"})
    (line,) = map(json.loads, said())
    assert datetime.fromisoformat(line.pop("time")).utcoffset() == timedelta(0)
    assert line == {
        "level": "warning",
        "logger": "otel_toolselect.somewhere",
        "message": "3 requests wait",
        "spool_bytes": 17,
        "odd": "object",
    }


def test_a_text_line_is_one_line(lines) -> None:
    said = lines("text")
    log.error("two\nlines\x1b[31m", extra={"port": 4318})
    assert said() == ["toolselect: ERROR: two\\nlines\\x1b[31m port=4318"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_text_of_an_error_is_left_out_and_its_place_is_told(lines, form) -> None:
    said = lines(form)
    try:
        try:
            raise KeyError(SECRET)
        except KeyError:
            raise ValueError(f"cannot read {SECRET}") from None
    except ValueError:
        log.exception("it failed")
    (line,) = said()
    assert SECRET not in line
    assert "ValueError" in line
    assert "test_telemetry_logs.py" in line


def test_other_libraries_may_only_warn_and_without_what_they_put_in(lines) -> None:
    said = lines()
    foreign.info("sent %s", SECRET)
    foreign.warning(f"sent {SECRET}")  # the text is made before logging sees it
    logging.getLogger("uvicorn.error").warning("%s sent %d bytes: 100%% bad", SECRET, 5)
    logging.getLogger("uvicorn.error").warning("%d of 100%", SECRET)
    first, second, third = (json.loads(line)["message"] for line in said())
    assert first.startswith(logs.LEFT_OUT)
    assert "test_telemetry_logs.py" in first
    assert second == "… sent 5 bytes: 100% bad"
    assert third == "%d of 100%"


def test_the_level_is_that_of_our_own_lines(lines) -> None:
    said = lines(level="error")
    log.warning("not this")
    log.error("this")
    assert [json.loads(line)["message"] for line in said()] == ["this"]


def test_a_thread_that_ends_by_an_error_says_so_without_its_text(lines, capsys) -> None:
    said = lines()
    thread = threading.Thread(target=lambda: int(SECRET), name="worker")
    thread.start()
    thread.join()
    (line,) = map(json.loads, said())
    assert (line["level"], line["error"]) == ("critical", "ValueError")
    assert "worker" in line["message"]
    assert SECRET not in str(line) + capsys.readouterr().err


def test_configure_can_be_undone() -> None:
    root, own = logging.getLogger(), logging.getLogger("otel_toolselect")
    before = root.handlers[:], root.level, own.level, threading.excepthook
    logs.configure("json", "debug", io.StringIO())()
    assert (root.handlers[:], root.level, own.level, threading.excepthook) == before


class Listening(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, int]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append((record.getMessage(), getattr(record, "repeated", 0)))


class Later:
    """Time that only moves when told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, seconds: float, run: Callable[[], None]) -> Callable[[], None]:
        entry = (self.now + seconds, run)
        self.due.append(entry)
        return lambda: self.due.remove(entry)

    def go(self, seconds: float) -> None:
        self.now += seconds
        for entry in [e for e in self.due if e[0] <= self.now]:
            self.due.remove(entry)
            entry[1]()


@pytest.fixture
def heard() -> Iterator[tuple[logging.Logger, Listening, Later, Repeats]]:
    target, later = Listening(), Later()
    repeats = Repeats(target, 60.0, clock=lambda: later.now, later=later)
    logger = logging.Logger("otel_toolselect.away")
    logger.addHandler(repeats)
    yield logger, target, later, repeats
    repeats.close()


def test_an_outage_is_told_once_and_then_by_its_count(heard) -> None:
    logger, target, later, _ = heard
    for n in range(100):
        logger.warning("attempt %d: the store is away (%s)", n, "StoreError")
    assert target.heard == [("attempt 0: the store is away (StoreError)", 0)]
    later.go(60)
    assert target.heard[1:] == [("attempt 0: the store is away (StoreError)", 99)]
    later.go(60)
    later.go(60)
    assert len(target.heard) == 2, "nothing happened, nothing is told"
    logger.warning("attempt %d: the store is away (%s)", 100, "StoreError")
    assert len(target.heard) == 3, "a new outage is told at once"


def test_other_texts_are_other_lines_and_debugging_is_never_held_back(heard) -> None:
    logger, target, _, _ = heard
    for _ in range(3):
        logger.warning("refused: %s", "A")
        logger.warning("refused: %s", "B")
        logger.debug("step")
    assert [line for line, _ in target.heard].count("step") == 3
    assert [line for line, _ in target.heard if line != "step"] == ["refused: A", "refused: B"]


def test_what_was_counted_is_told_at_the_end(heard) -> None:
    logger, target, later, repeats = heard
    logger.error("full")
    logger.error("full")
    repeats.close()
    assert target.heard == [("full", 0), ("full", 1)]
    assert later.due == [], "no timer is left behind"


def test_kinds_are_bounded(heard) -> None:
    logger, target, _, repeats = heard
    for n in range(2 * KINDS):
        logger.warning("%s", f"kind {n}")
    assert len(target.heard) == 2 * KINDS
    assert len(repeats._seen) == KINDS
