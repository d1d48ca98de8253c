"""A statement that failed is sent again in place, for callers that would lose more than the statement: of a turn of
live judging one out of a hundred may fail, and without this all of it is read, assembled and judged once more.

What is sent twice is kept once: rows of what is judged are keyed, and bear the version of the first attempt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from otel_toolselect.errors import StoreError

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

ATTEMPTS = 6
"""With a fifth of all statements failing one in 15,000 is given up."""
FIRST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_S = 0.05, 1.0, 10.0
"""Pauses are drawn from nothing to a length that doubles: a second and a half in all at most. A store that takes long
to fail is away, and is left alone after LONGEST_S.
"""


@dataclass(frozen=True, slots=True)
class _Patience:
    stop: threading.Event
    again: Callable[[], None]


_patience: ContextVar[_Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patient(stop: threading.Event, again: Callable[[], None]) -> Iterator[None]:
    """Statements of any store on this thread are patient inside, until `stop` is set: that ends a pause at once.
    `again` is called each time before one is sent once more.
    """
    token = _patience.set(_Patience(stop, again))
    try:
        yield
    finally:
        _patience.reset(token)


def patiently(statement: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """For a method that may be carried out twice."""

    @wraps(statement)
    def tried(session: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        patience = _patience.get()
        if patience is None:
            return statement(session, *args, **kwargs)
        return _again(patience, lambda: statement(session, *args, **kwargs))

    return tried


def _again(patience: _Patience, statement: Callable[[], T]) -> T:
    from tenacity import (
        Retrying,
        retry_if_exception,
        stop_after_attempt,
        stop_after_delay,
        stop_when_event_set,
        wait_random_exponential,
    )
    from tenacity.nap import sleep_using_event

    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS) | stop_after_delay(LONGEST_S) | stop_when_event_set(patience.stop),
        wait=wait_random_exponential(FIRST_PAUSE_S, max=LONGEST_PAUSE_S),
        retry=retry_if_exception(lambda error: isinstance(error, StoreError) and error.retryable),
        before_sleep=lambda _: patience.again(),
        sleep=sleep_using_event(patience.stop),
        reraise=True,
    )
    return retrying(statement)
