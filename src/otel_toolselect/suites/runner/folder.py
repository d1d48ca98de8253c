"""The folder of a run: what it is about, what is done, and the traces of each attempt.

    run.json         suite, target (without secrets), label
    journal.jsonl    one line per attempt that is done, written and synced when its traces are
    traces/          one file per attempt, OTLP/JSON lines; `events`, `score`, `triage` read the folder
    run.lock         held while a run is at work

A file of traces that the journal does not name is left over from an attempt that was interrupted, and counts nowhere.
The folder is its owner's alone: prompts, arguments and answers are in it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from otel_toolselect.errors import EnvironmentProblem, InputError, UsageError
from otel_toolselect.suites.runner.plan import Attempt

SCHEMA = "toolselect.run/1"


@dataclass(frozen=True, slots=True)
class Header:
    """What must be the same for a run to go on in its folder."""

    suite: str
    target: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """One attempt that is done. `prompt`: a digest, so that a changed prompt is sent again. `seconds`: how long it
    took. `source`: where what is known of it comes from: spans, answer, or nothing.
    """

    case: str
    attempt: int
    prompt: str
    file: str
    source: str
    seconds: float
    fault: str | None = None
    trouble: str | None = None
    tries: int = 1

    @property
    def key(self) -> tuple[str, int]:
        return self.case, self.attempt


class Folder:
    """Made when it is not there. Raises UsageError when another run is in it, InputError when it is damaged."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self._writing = threading.Lock()
        try:
            (path / "traces").mkdir(parents=True, exist_ok=True)
            path.chmod(0o700)
        except OSError as error:
            raise EnvironmentProblem(f"cannot make the run folder {path}: {error.strerror or error}") from error
        self._check(header)
        self._done = {done.key: done for done in self._read()}

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    def done(self, attempt: Attempt) -> Done | None:
        """The attempt as it was done, with the prompt that it has now; None when it is to be run (again)."""
        found = self._done.get(attempt.key)
        return found if found is not None and found.prompt == digest_of(attempt) else None

    def traces(self, attempts: Iterable[Attempt]) -> list[str]:
        """The files of these attempts, as far as they are done."""
        found = [done for attempt in attempts if (done := self.done(attempt)) is not None]
        return [str(self.path / done.file) for done in found]

    def keep(self, done: Done, lines: Iterable[str]) -> None:
        """The traces, then the line that says that they are there. On disk when this returns."""
        target = self.path / done.file
        draft = target.with_suffix(".part")
        with draft.open("wb") as file:
            file.writelines(f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
        line = json.dumps(asdict(done), ensure_ascii=False) + "\n"
        with self._writing:
            with self.journal.open("ab") as file:
                file.write(line.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            self._done[done.key] = done

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one run at a time works in a folder; the lock goes with its process, however that ends."""
        with (self.path / "run.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError(f"another run is at work in {self.path}; wait for it, or name another --dir") from None
            self._mend()
            yield

    def _check(self, header: Header) -> None:
        path = self.path / "run.json"
        wanted = asdict(header)
        if not path.exists():
            path.write_text(json.dumps({"schema": SCHEMA, **wanted}, indent=2, ensure_ascii=False) + "\n", "utf-8")
            return
        try:
            found = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"is no run folder: {error}", where=str(path)) from error
        differs = [f"{k} {found.get(k)!r}, not {v!r}" for k, v in wanted.items() if found.get(k) != v]
        if differs:
            raise UsageError(f"{self.path} holds another run ({'; '.join(differs)}); name another --dir")

    def _read(self) -> Iterator[Done]:
        known = {f.name for f in fields(Done)}
        with suppress(FileNotFoundError):
            for line in self.journal.read_bytes().splitlines():
                try:
                    record = json.loads(line)
                    yield Done(**{k: v for k, v in record.items() if k in known})
                except (ValueError, TypeError, AttributeError):
                    continue  # the line that a killed process did not finish: its attempt is run again

    def _mend(self) -> None:
        """A line that was cut short is closed, so that the next one is whole."""
        if self.journal.exists() and not self.journal.read_bytes().endswith(b"\n") and self.journal.stat().st_size:
            with self.journal.open("ab") as file:
                file.write(b"\n")


def digest_of(attempt: Attempt) -> str:
    return hashlib.sha256(attempt.prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def file_of(attempt: Attempt) -> str:
    """A readable name that no other attempt has."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", attempt.case.id)[:60].strip("-.") or "case"
    unique = hashlib.sha256(attempt.case.id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"traces/{slug}-{unique}.{attempt.number}.jsonl"
