"""`--exec 'cmd {prompt}'`: a process for each attempt, without a shell.

The command line is split as a shell would split it; `{prompt}`, `{case_id}` and `{attempt}` are then put in within one
argument each, so nothing in a prompt can become another argument. The prompt is also on standard input and in
`TOOLSELECT_PROMPT`. When time is up the process and its children get SIGTERM, and SIGKILL a little later.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.suites.runner.answers import find_answer
from otel_toolselect.suites.runner.carriers import as_argument, inherited
from otel_toolselect.suites.runner.target import Options, Outcome, Trial, failed

_EXCEPTION = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|Timeout|Exceeded|Unavailable)\b(?:: |$)")
_KEPT = 1024 * 1024
_GRACE_S = 3.0
_TOO_LONG = "the prompt is too long for an argument; read it from standard input"
# what a shell in between makes of the death of its child
_BY_SIGNAL = {128 + n: n for n in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)}


class _Exec:
    name = "exec"
    about = "a command per attempt; {prompt}, {case_id}, {attempt} are put in as single arguments"

    def make(self, options: Options) -> Command:
        try:
            words = shlex.split(options.where)
        except ValueError as error:
            raise UsageError(f"--exec {options.where!r}: {error}") from error
        if not words:
            raise UsageError("--exec is empty; write a command, say --exec 'python agent.py {prompt}'")
        if shutil.which(words[0]) is None:
            raise EnvironmentProblem(f"--exec: there is no program {words[0]!r}")
        return Command(tuple(words), options)


PLUGIN = _Exec()


@dataclass(slots=True)
class Command:
    words: tuple[str, ...]
    options: Options
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cancelled: bool = False

    @property
    def shown(self) -> str:
        return f"exec {shlex.join(self.words)}"

    def run(self, trial: Trial) -> Outcome:
        attempt = trial.attempt
        values = {"prompt": attempt.prompt, "case_id": attempt.case.id, "attempt": str(attempt.number)}
        words = [filled(word, values) for word in self.words]
        environment = inherited(self.options.env, trial.environment)
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
            asked.write(attempt.prompt.encode("utf-8", "surrogatepass"))
            asked.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603  what the user asked for, no shell
                    words, stdin=asked, stdout=said, stderr=errors, env=environment, start_new_session=True
                )
            except (OSError, ValueError) as error:
                if getattr(error, "errno", None) == errno.E2BIG:
                    return Outcome(trouble=_TOO_LONG, flushed=True)
                raise EnvironmentProblem(f"--exec: cannot start {words[0]}: {error}") from error
            with self._lock:
                self._running.add(process)
            if self._cancelled:
                end(process)
            timed_out = self._wait(process)
            with self._lock:
                self._running.discard(process)
            return self._outcome(process.returncode, timed_out, head(said), tail(errors))

    def _wait(self, process: subprocess.Popen[bytes]) -> bool:
        try:
            process.wait(self.options.timeout_s)
        except subprocess.TimeoutExpired:
            end(process)
            return True
        return False

    def _outcome(self, code: int, timed_out: bool, said: str, errors: str) -> Outcome:
        answer = find_answer(said)
        if timed_out:
            return Outcome(answer, fault=f"timeout: not done within {self.options.timeout_s:g} s", flushed=True)
        number = -code if code < 0 else _BY_SIGNAL.get(code)
        if number is not None:
            return Outcome(answer, fault=f"ended by signal {signal.Signals(number).name}", flushed=True)
        if code:
            found = failed(f"exit code {code}", reason(errors))
            return Outcome(answer, fault=found.fault, trouble=found.trouble, flushed=True)
        return Outcome(answer, flushed=True)

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for process in running:
            kill(process, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_S
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.05, deadline - time.monotonic()))
            kill(process, signal.SIGKILL)

    def close(self) -> None:
        """Nothing outlives its attempt."""


def reason(errors: str) -> str:
    """The line of stderr that says why: the last that names an exception, as other parts may complain after it; else
    the last.
    """
    lines = [line.strip() for line in errors.splitlines() if line.strip() and not line.startswith((" ", "\t"))]
    named = (line for line in reversed(lines) if _EXCEPTION.match(line))
    return next(named, lines[-1] if lines else "it said nothing on stderr")


def filled(word: str, values: dict[str, str]) -> str:
    """`{name}` replaced, other braces left alone; what is put in is not looked at again."""
    return re.sub(r"\{(prompt|case_id|attempt)\}", lambda found: as_argument(values[found[1]]), word)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and its children, gently at first."""
    kill(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    kill(process, signal.SIGKILL)
    process.wait()


def kill(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def head(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_KEPT).decode("utf-8", "replace")


def tail(file: IO[bytes], size: int = 8192) -> str:
    end_at = file.seek(0, os.SEEK_END)
    file.seek(max(0, end_at - size))
    return file.read().decode("utf-8", "replace")
