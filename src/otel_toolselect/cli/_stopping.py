"""Commands that run until somebody stops them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def stopped_by_signals() -> threading.Event:
    """Set by SIGTERM or SIGINT, from the first moment on; a second signal ends the process at once."""
    stop = threading.Event()

    def on_signal(number: int, frame: object) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """The same for a command that also ends by itself: afterwards signals do what they did before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stopped_by_signals()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
