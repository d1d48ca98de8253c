"""Wiring of `run`: receiver or store, target, folder, judge (R41, R54, R56)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from otel_toolselect import app
from otel_toolselect.app.run_spans import USUAL, watching
from otel_toolselect.config import Settings, data_folder
from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.suites.runner import Folder, Header, Options, Playing, Runner, choose, kinds, plan
from otel_toolselect.suites.runner.carriers import Carriers, Names

if TYPE_CHECKING:
    from otel_toolselect.app.rerunning import After
    from otel_toolselect.rules import Suite
    from otel_toolselect.store import Store
    from otel_toolselect.suites.runner import Attempt, Target
    from otel_toolselect.suites.runner.masking import Masker

Cause: TypeAlias = Literal["stopped", "deadline", "faults"]
Progress: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be run. `kind` and `options` say the target. `folder` None: a new one in the data folder, or with
    `resume` the newest there of the same suite, target and label. `deadline_s` is for the whole run.

    `after`: only the cases that failed there, and the core. `port`: of the run's own receiver; None takes a free one,
    or the usual one of the protocol for an agent that runs already and cannot be told. `keep`: spans and verdicts go
    into the store of the settings, too. `from_store`: the agent's spans come there by themselves; else a receiver of
    the run's own takes them.
    """

    suite: str
    kind: str
    options: Options
    attempts: int = 1
    cases: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    after: After | None = None
    seed: int | None = None
    label: str | None = None
    folder: Path | None = None
    resume: bool = False
    playing: Playing = field(default_factory=Playing)
    protocol: str = next(iter(USUAL))
    port: int | None = None
    deadline_s: float | None = None
    keep: bool = False
    from_store: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """`left`: attempts that are not done, `cause` why. `nothing`: attempts that showed no decision at all."""

    done: app.Evaluated
    folder: Path
    attempts: int
    left: int
    before: int
    nothing: int
    late: int
    cause: Cause | None = None


def run(
    wanted: Wanted, settings: Settings, *, stop: threading.Event, tell: Callable[[str], None], progress: Progress
) -> Ran:
    """Plays what is not done yet, judges all that is done of this plan. Raises UsageError, InputError,
    EnvironmentProblem.
    """
    from otel_toolselect.rules import load_suite

    suite = choose(load_suite(wanted.suite), wanted.cases, wanted.tags)
    if wanted.after is not None:
        from otel_toolselect.app.rerunning import affected

        suite = affected(suite, wanted.after)
    return play(suite, wanted, settings, stop=stop, tell=tell, progress=progress)


def play(
    suite: Suite,
    wanted: Wanted,
    settings: Settings,
    *,
    stop: threading.Event,
    tell: Callable[[str], None],
    progress: Progress,
) -> Ran:
    """The same with the suite at hand."""
    from otel_toolselect.suites.runner.masking import Masker, passwords_in, secrets_of

    attempts = plan(suite, wanted.attempts, wanted.seed)
    options = wanted.options
    urls = passwords_in(options.where) | passwords_in(options.base_url)
    environment = {**os.environ, **options.env}
    masker = Masker(secrets_of(environment, options.headers, options.key, *urls), settings.redact)
    target = _target(wanted)
    try:
        header = Header(suite.name, masker.text(target.shown), wanted.label)
        folder = Folder(_folder(wanted, header), header)
        with folder.locked():
            todo = [attempt for attempt in attempts if _again(folder, attempt)]
            before = len(attempts) - len(todo)
            if before:
                tell(f"{before} of {len(attempts)} attempts are done already in {folder.path}")
            left = _Left()
            if todo:
                left = _played(todo, suite.name, wanted, settings, _Means(target, folder, masker, stop, tell, progress))
            done = _judged(folder, attempts, suite, wanted, settings)
    finally:
        target.close()
    found = [done_ for attempt in attempts if (done_ := folder.done(attempt)) is not None]
    return Ran(
        done=done,
        folder=folder.path,
        attempts=len(attempts),
        left=len(attempts) - len(found),
        before=before,
        nothing=sum(one.source == "nothing" and not one.fault for one in found),
        late=left.late,
        cause=left.cause if len(found) < len(attempts) else None,
    )


def _target(wanted: Wanted) -> Target:
    known = kinds()
    if wanted.kind not in known:
        raise UsageError(f"there is no kind of target {wanted.kind!r}; known: {', '.join(known)}")
    return known[wanted.kind].make(wanted.options)


def _again(folder: Folder, attempt: Attempt) -> bool:
    """What the platform lost is run again when a run goes on; everything else that is done is not."""
    done = folder.done(attempt)
    return done is None or done.fault is not None


def _folder(wanted: Wanted, header: Header) -> Path:
    if wanted.folder is not None:
        return wanted.folder
    home = data_folder() / RUNS
    if wanted.resume:
        found = _newest(home, header)
        if found is None:
            raise UsageError(f"no run of {header.suite} with this target is in {home}; name its folder with --dir")
        return found
    safe = "".join(ch if ch.isalnum() or ch in "-_." else "-" for ch in header.suite)[:60].strip(".") or "suite"
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    name, n = f"{safe}-{stamp}", 1
    while (home / name).exists():
        n += 1
        name = f"{safe}-{stamp}-{n}"
    return home / name


def _newest(home: Path, header: Header) -> Path | None:
    import json

    found: list[tuple[float, Path]] = []
    for path in home.glob("*/run.json"):
        try:
            about = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        same = (about.get("suite"), about.get("target"), about.get("label"))
        if same == (header.suite, header.target, header.label):
            found.append((path.stat().st_mtime, path.parent))
    return max(found)[1] if found else None


@dataclass(frozen=True, slots=True)
class _Left:
    cause: Cause | None = None
    late: int = 0


@dataclass(frozen=True, slots=True)
class _Means:
    """What a run is played with."""

    target: Target
    folder: Folder
    masker: Masker
    stop: threading.Event
    tell: Callable[[str], None]
    progress: Progress


def _played(todo: Sequence[Attempt], suite: str, wanted: Wanted, settings: Settings, by: _Means) -> _Left:
    """What did not come to its end, and why."""
    ended = threading.Event()
    with ExitStack() as stack:
        watch, endpoint = stack.enter_context(watching(wanted, settings, by.folder))
        names = settings.case_attributes
        first = Names(names.case_id[0], names.suite[0], names.label[0], names.attempt[0])
        carriers = Carriers(suite, wanted.label, endpoint, wanted.protocol, first)
        step = stack.enter_context(by.progress("attempts", len(todo)))
        runner = Runner(by.target, carriers, watch, by.folder, by.masker, wanted.playing, by.tell, step, ended)
        stack.enter_context(_stopping(runner, by.stop, wanted.deadline_s))
        runner.play(todo)
        late = getattr(watch, "late", 0)
    if runner.gave_up:
        return _Left("faults", late)
    return _Left("stopped" if by.stop.is_set() else "deadline", late)


@contextmanager
def _stopping(runner: Runner, stop: threading.Event, deadline_s: float | None) -> Iterator[None]:
    """Hands a stop from outside, or the end of the time, on to the runner."""
    over = threading.Event()

    def watch() -> None:
        end = None if deadline_s is None else time.monotonic() + deadline_s
        while not over.is_set():
            left = None if end is None else end - time.monotonic()
            if stop.wait(0.1) or (left is not None and left <= 0):
                runner.stop.set()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _judged(
    folder: Folder, attempts: Sequence[Attempt], suite: Suite, wanted: Wanted, settings: Settings
) -> app.Evaluated:
    """All that is done of the plan against the suite, by the ordinary path."""
    from otel_toolselect.stats import report

    paths = folder.traces(attempts)
    spans, logs = app.read_files(paths) if paths else ([], [])
    runs = app.runs_of(spans, logs, settings)
    if not wanted.keep:
        return app.Evaluated(report(app.judged(runs, suite, settings)), {run.run_id: run for run in runs}, suite)
    from otel_toolselect.store import open_store

    store: Store = open_store(settings.dsn)
    try:
        if store.foreign:
            raise EnvironmentProblem(f"the span table at {store.dsn} was made by a Collector and is only read")
        for start in range(0, len(spans), app.REPLAY_BATCH):
            store.insert(spans[start : start + app.REPLAY_BATCH], [])
        if logs:
            store.insert([], logs)
        return app.kept(store, runs, suite, settings)
    finally:
        store.close()
