"""`--callable pkg:func`: a Python function, in worker processes that are kept between attempts.

A worker is a process of its own so that one that hangs can be ended, and so that the agent may live in another
environment (`--python`). It speaks JSON lines over two pipes (`_worker`); what the agent prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.suites.runner.answers import read_answer
from otel_toolselect.suites.runner.carriers import inherited
from otel_toolselect.suites.runner.target import Options, Outcome, Trial, failed
from otel_toolselect.suites.runner.targets.exec import end, tail

_WORKER = Path(__file__).parents[1] / "_worker.py"
_MAX_REPLY = 4 * 1024 * 1024
_START_S = 60.0
_END_S = 5.0
_OF_A_TRIAL = frozenset({"TRACEPARENT", "BAGGAGE", "OTEL_RESOURCE_ATTRIBUTES"})
"""Not in a worker's environment: it lives longer than one attempt."""


class _Callable:
    name = "callable"
    about = "a Python function, package.module:function, in worker processes"

    def make(self, options: Options) -> Function:
        module, _, function = options.where.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
            raise UsageError(f"--callable {options.where!r} is no function; write package.module:function")
        return Function(options)


PLUGIN = _Callable()


class _Gone(Exception):
    """The worker ended, or did not answer in time (`timed_out`)."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__()
        self.timed_out = timed_out


class _Worker:
    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the worker
        self.process = subprocess.Popen(  # noqa: S603  our own program, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=dict(environment),
            start_new_session=True,
        )
        self._read = bytearray()

    def ask(self, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError, OSError):
            raise _Gone(timed_out=False) from None
        return self.reply(timeout_s)

    def reply(self, timeout_s: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as readable:  # `select` knows no descriptor beyond 1023
            readable.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._read:
                left = deadline - time.monotonic()
                if left <= 0 or len(self._read) > _MAX_REPLY:
                    raise _Gone(timed_out=True)
                if readable.select(min(left, 1.0)):
                    data = os.read(pipe, 65_536)
                    if not data:
                        self.process.wait()
                        raise _Gone(timed_out=False)
                    self._read += data
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        end(self.process)
        self.errors.close()


@dataclass(slots=True)
class Function:
    options: Options
    _idle: list[_Worker] = field(default_factory=list)
    _all: set[_Worker] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cancelled: bool = False

    @property
    def shown(self) -> str:
        return f"callable {self.options.where}"

    def run(self, trial: Trial) -> Outcome:
        try:
            worker = self._worker(trial)
        except _Gone:
            return Outcome(fault="stopped while a worker was starting")
        keep = False
        try:
            found = worker.ask(_message(trial), self.options.timeout_s)
            keep = True
        except _Gone as gone:
            return self._gone(gone, worker)
        finally:
            self._back(worker, keep=keep)
        if "error" in found:
            error = found["error"]
            return _with_flush(failed(str(error["type"]), str(error["message"])), flushed=bool(found["flushed"]))
        return Outcome(read_answer(found.get("value")), flushed=bool(found["flushed"]))

    def _gone(self, gone: _Gone, worker: _Worker) -> Outcome:
        if gone.timed_out:
            return Outcome(fault=f"timeout: no answer within {self.options.timeout_s:g} s", flushed=True)
        with suppress(subprocess.TimeoutExpired):  # its pipe broke: it is about to end
            worker.process.wait(_END_S)
        code = worker.process.returncode
        if code is not None and code < 0:
            return Outcome(fault=f"the worker was ended by signal {-code}", flushed=True)
        said = tail(worker.errors).strip().splitlines()
        return Outcome(trouble=f"the worker ended with exit code {code}: {said[-1] if said else ''}", flushed=True)

    def _worker(self, trial: Trial) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        carried = {k: v for k, v in trial.environment.items() if k.startswith("OTEL_") and k not in _OF_A_TRIAL}
        environment = inherited(self.options.env, carried)
        worker = _Worker([self.options.python or sys.executable, str(_WORKER), self.options.where], environment)
        with self._lock:
            self._all.add(worker)
            if self._cancelled:
                worker.process.kill()
        try:
            ready = worker.reply(_START_S)
        except _Gone:
            said = tail(worker.errors).strip()
            self._back(worker, keep=False)
            if self._cancelled:
                raise
            raise EnvironmentProblem(f"--callable {self.options.where}: the worker did not start: {said}") from None
        if "error" in ready:
            self._back(worker, keep=False)
            raise UsageError(f"--callable {self.options.where}: {ready['error']}")
        return worker

    def _back(self, worker: _Worker, *, keep: bool) -> None:
        with self._lock:
            if keep and not self._cancelled:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.end()

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            workers = list(self._all)
        for worker in workers:
            with suppress(ProcessLookupError):
                worker.process.kill()

    def close(self) -> None:
        with self._lock:
            workers, self._idle = list(self._idle), []
        for worker in workers:
            self._back(worker, keep=False)


def _message(trial: Trial) -> dict[str, Any]:
    attempt = trial.attempt
    named = {k: v for k, v in trial.environment.items() if k.startswith("TOOLSELECT_") or k in _OF_A_TRIAL}
    return {
        "prompt": attempt.prompt,
        "case_id": attempt.case.id,
        "attempt": attempt.number,
        "headers": dict(trial.headers),
        "environment": named,
    }


def _with_flush(outcome: Outcome, *, flushed: bool) -> Outcome:
    from dataclasses import replace

    return replace(outcome, flushed=flushed)
