"""Suites that came over the network are read and judged by in a process of its own, which is ended when it takes too
long: nobody knows what a stranger's suite takes, and a thread cannot be ended.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from otel_toolselect.app.evaluating import Check, held_to, parse
from otel_toolselect.errors import InputError, Problem, SuiteError, TooLargeError
from otel_toolselect.model.answers import Evaluation
from otel_toolselect.model.runs import Run

_MOST_MEMORY = 2**31
_NICE = 10  # what arrives goes first
_STOP_S = 5.0
_CHECK_S = 0.1
_KINDS: dict[str, type[InputError]] = {kind.__name__: kind for kind in (InputError, TooLargeError)}


class Processes:
    """Made when they are needed, kept for the next, as many as are used at the same time. Safe for threads."""

    def __init__(self) -> None:
        self._free: list[_Process] = []
        self._all: set[_Process] = set()
        self._lock = threading.Lock()
        self._closed = False

    def judge(
        self, text: str, file_name: str, runs: Sequence[Run], only: Collection[str] | None, check: Check
    ) -> Evaluation:
        """Raises SuiteError, InputError, TooLargeError, RuntimeError when the process has ended. `check` is called now
        and then: when it raises, the process is ended.
        """
        with self._process() as process:
            return process.judge((text, file_name, tuple(runs), only), check)

    def close(self) -> None:
        """Ends all of them, those at work too."""
        with self._lock:
            self._closed = True
            everyone, self._free = list(self._all), []
        for process in everyone:
            process.end()

    @contextmanager
    def _process(self) -> Iterator[_Process]:
        with self._lock:
            if self._closed:
                raise RuntimeError("no evaluation begins while the server stops")
            process = self._free.pop() if self._free else None
        if process is None or not process.alive:
            process = _Process()
            with self._lock:
                self._all.add(process)
        try:
            yield process
        except BaseException:
            process.end_unless_idle()
            raise
        finally:
            with self._lock:
                if process.alive and not self._closed:
                    self._free.append(process)
                else:
                    self._all.discard(process)


class _Process:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would take the engine and its threads along
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="toolselect-judging", daemon=True)
        self._process.start()
        theirs.close()
        self._waiting = False

    @property
    def alive(self) -> bool:
        return not self._pipe.closed and self._process.is_alive()

    def judge(self, question: Any, check: Check) -> Evaluation:
        self._waiting = True
        try:
            self._pipe.send(question)
            while not self._pipe.poll(_CHECK_S):
                check()
            kind, said = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise RuntimeError("the process that judges has ended") from error
        self._waiting = False
        if kind == "done":
            assert isinstance(said, Evaluation)
            return said
        raise _error(kind, said)

    def end_unless_idle(self) -> None:
        """After a question that was not answered, the answer would be taken for that of the next."""
        if self._waiting:
            self.end()

    def end(self) -> None:
        self._process.kill()
        self._process.join(_STOP_S)
        self._pipe.close()


def _error(kind: str, said: Any) -> Exception:
    if kind == "suite":
        return SuiteError([Problem(*fields) for fields in said])
    if kind in _KINDS:
        return _KINDS[kind](said[0], where=said[1])
    return RuntimeError(f"{kind} while judging")


def _serve(pipe: Connection) -> None:
    """The life of the process: it ends with the one that made it."""
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us when it is done
    with suppress(ValueError, OSError):
        os.nice(_NICE)
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_answer(*pipe.recv()))


def _answer(text: str, file_name: str, runs: Sequence[Run], only: Collection[str] | None) -> tuple[str, Any]:
    try:
        return "done", held_to(parse(text, file_name), runs, only, lambda: None)
    except SuiteError as error:
        return "suite", [(p.path, p.line, p.column, p.message, p.suggestion) for p in error.problems]
    except InputError as error:
        kind = type(error).__name__
        return (kind if kind in _KINDS else "InputError"), (error.bare, error.where)
    except Exception as error:  # noqa: BLE001 - told as what it is, without its text
        return type(error).__name__, None
