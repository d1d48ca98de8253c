"""Plays attempts against a target, some at a time, and keeps each as soon as it is whole.

One thread per attempt under way. A stop (a signal, or the whole run's time) ends what is under way and keeps nothing of
it: those attempts are run when the run goes on. Infrastructure faults are tried again `retries` times with growing
pauses. After `GIVE_UP` of them in a row the rest is left for later: a dead endpoint must not cost its time-out once per
attempt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Literal, Protocol, TypeAlias

import tenacity

from otel_toolselect.model.runs import INFRA
from otel_toolselect.model.spans import Attributes, Batch, LogRecord, Span
from otel_toolselect.otlp.jsonencode import logs_json, traces_json
from otel_toolselect.suites.runner.carriers import TRIAL_ID, Carriers
from otel_toolselect.suites.runner.collecting import Found, Whole, has_agent, is_whole
from otel_toolselect.suites.runner.folder import Done, Folder, digest_of, file_of
from otel_toolselect.suites.runner.made import Frame, own_span, silent_spans, stated_spans
from otel_toolselect.suites.runner.masking import Masker
from otel_toolselect.suites.runner.plan import Attempt
from otel_toolselect.suites.runner.target import Outcome, Target, Trial

Record: TypeAlias = Literal["auto", "spans", "answer"]
GIVE_UP = 10
_CANCEL_S = 10.0
_AFTER_FAULT_S = 0.5


class Watch(Protocol):
    """Where spans come from: a receiver of one's own, or a store that somebody else fills."""

    def open(self, trial: Trial) -> None:
        """From now on the trial's spans may come."""
        ...

    def settle(self) -> bool:
        """Returns when all that was sent before is here; False, at once, where nobody can say that."""
        ...

    def gather(self, trial: Trial, until: Whole, timeout_s: float, stop: threading.Event) -> Found: ...


@dataclass(frozen=True, slots=True)
class Playing:
    """How a run is played. `record`: what tells of an attempt: the agent's spans, its answer, or (auto) the answer
    where it states calls and no span is there by then, else the spans. Times in seconds.
    """

    concurrency: int = 4
    retries: int = 0
    spans_s: float = 15.0
    record: Record = "auto"
    backoff_s: float = 1.0


@dataclass(slots=True)
class Runner:
    """One run. `tell` gets one line for people of every attempt that did not go as it should; `step` is called after
    each attempt.
    """

    target: Target
    carriers: Carriers
    watch: Watch
    folder: Folder
    masker: Masker
    playing: Playing
    tell: Callable[[str], None]
    step: Callable[[], None]
    stop: threading.Event = field(default_factory=threading.Event)
    broken: BaseException | None = None
    gave_up: bool = False
    _faults: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, attempts: Sequence[Attempt]) -> None:
        """Returns when all are done, or after `stop`. Raises what the target says will fail in every attempt."""
        waiting: SimpleQueue[Attempt] = SimpleQueue()
        for attempt in attempts:
            waiting.put(attempt)
        count = min(self.playing.concurrency, len(attempts))
        threads = [threading.Thread(target=self._work, args=(waiting,), daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        cancelled = False
        while any(thread.is_alive() for thread in threads):
            if self.stop.is_set() and not cancelled:
                cancelled = True
                self.target.cancel()
                limit = time.monotonic() + _CANCEL_S
            if cancelled and time.monotonic() > limit:
                break  # they are daemons, and what they still bring is not kept
            next(thread for thread in threads if thread.is_alive() or thread is threads[-1]).join(0.1)
        if self.broken is not None:
            raise self.broken

    def _work(self, waiting: SimpleQueue[Attempt]) -> None:
        while not self.stop.is_set():
            try:
                attempt = waiting.get_nowait()
            except Empty:
                return
            try:
                self._attempt(attempt)
            except BaseException as error:  # noqa: BLE001  raised again by `play`
                self.broken = self.broken or error
                self.stop.set()

    def _attempt(self, attempt: Attempt) -> None:
        tries = 0

        def once() -> tuple[Frame, Outcome, list[Span], list[LogRecord]] | None:
            nonlocal tries
            tries += 1
            return self._try(attempt)

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.playing.retries + 1) | tenacity.stop_when_event_set(self.stop),
            wait=self._pause,
            retry=tenacity.retry_if_result(lambda found: found is not None and found[1].fault is not None),
            sleep=self._rest,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        found = retrying(once)
        if found is None or self.stop.is_set():
            return
        frame, outcome, spans, logs = found
        self._keep(frame, outcome, spans, logs, tries)
        self._count(outcome)
        self.step()

    def _rest(self, seconds: float) -> None:
        self.stop.wait(seconds)

    def _pause(self, state: tenacity.RetryCallState) -> float:
        asked = state.outcome.result()[1].retry_after_s if state.outcome else 0.0
        grown: float = tenacity.wait_random_exponential(self.playing.backoff_s, max=60)(state)
        return max(float(asked), grown)

    def _try(self, attempt: Attempt) -> tuple[Frame, Outcome, list[Span], list[LogRecord]] | None:
        trial = self.carriers.trial(attempt)
        self.watch.open(trial)
        begun = time.time_ns()
        outcome = self.target.run(trial)
        settled = outcome.flushed and self.watch.settle()
        frame = Frame(trial, self.carriers.identity(attempt), self.carriers.suite, begun, time.time_ns())
        spans, logs = self._gather(trial, outcome, own_span(frame, outcome), settled=settled)
        return None if self.stop.is_set() else (frame, outcome, spans, logs)

    def _gather(self, trial: Trial, outcome: Outcome, own: Span, *, settled: bool) -> Found:
        """The agent's spans; waits for them only as long as something speaks for more to come."""
        wait_s = self.playing.spans_s
        states = outcome.answer is not None and self.playing.record == "auto"
        if settled or states or self.playing.record == "answer":
            wait_s = 0.0
        elif outcome.fault or outcome.trouble:
            wait_s = min(wait_s, _AFTER_FAULT_S)

        def whole(spans: Sequence[Span], logs: Sequence[LogRecord]) -> bool:
            return bool(spans) and is_whole([own, *spans], logs)

        return self.watch.gather(trial, whole, wait_s, self.stop)

    def _keep(self, frame: Frame, outcome: Outcome, spans: list[Span], logs: list[LogRecord], tries: int) -> None:
        outcome = replace(outcome, fault=self._masked(outcome.fault), trouble=self._masked(outcome.trouble))
        source = self._source(outcome, spans, logs)
        if source == "answer" and outcome.answer is not None:
            spans, logs = stated_spans(frame, outcome.answer), []
        elif source == "nothing":
            spans, logs = silent_spans(frame, outcome), []
        attempt = frame.trial.attempt
        extra = {**frame.identity, TRIAL_ID: frame.trial.span_id}
        if outcome.fault:
            extra[INFRA] = outcome.fault
        batch = Batch((own_span(frame, outcome), *spans), tuple(logs))
        batch = self.masker.batch(_stamped(batch, extra))
        lines = [traces_json(batch.spans), *([logs_json(batch.logs)] if batch.logs else [])]
        done = Done(
            case=attempt.case.id,
            attempt=attempt.number,
            prompt=digest_of(attempt),
            file=file_of(attempt),
            source=source,
            seconds=round((frame.end_ns - frame.start_ns) / 1e9, 3),
            fault=outcome.fault,
            trouble=outcome.trouble,
            tries=tries,
        )
        self.folder.keep(done, lines)
        if done.fault or done.trouble:
            self.tell(f"{done.case} attempt {done.attempt}: {done.fault or done.trouble}")

    def _masked(self, text: str | None) -> str | None:
        return self.masker.text(text) if text else None

    def _source(self, outcome: Outcome, spans: Sequence[Span], logs: Sequence[LogRecord]) -> str:
        wanted = self.playing.record
        if wanted != "answer" and has_decisions(spans, logs):
            return "spans"
        if wanted != "spans" and outcome.answer is not None:
            return "answer"
        return "spans" if has_agent(spans, logs) and wanted != "answer" else "nothing"

    def _count(self, outcome: Outcome) -> None:
        with self._lock:
            self._faults = self._faults + 1 if outcome.fault else 0
            if self._faults >= GIVE_UP:
                self.gave_up = True
                self.stop.set()


def has_decisions(spans: Sequence[Span], logs: Sequence[LogRecord]) -> bool:
    """Whether a model or a tool speaks in these spans."""
    from otel_toolselect.dialects import read

    return any(o.kind in ("model", "tool") for o in read(spans, logs))


def _stamped(batch: Batch, extra: dict[str, str]) -> Batch:
    """Every record names its attempt in its resource: the runner knows. Records share resources as before."""
    resources: dict[int, Attributes] = {}

    def with_extra(resource: Attributes) -> Attributes:
        return resources.setdefault(id(resource), {**resource, **extra})

    spans = tuple(replace(span, resource=with_extra(span.resource)) for span in batch.spans)
    logs = tuple(replace(log, resource=with_extra(log.resource)) for log in batch.logs)
    return Batch(spans, logs)
