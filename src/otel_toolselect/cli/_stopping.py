"""Commands that run until somebody stops them."""

from __future__ import annotations

import signal
import threading


def stopped_by_signals() -> threading.Event:
    """Set by SIGTERM or SIGINT, from the first moment on; a second signal ends the process at once."""
    stop = threading.Event()

    def on_signal(number: int, frame: object) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop
