"""A receiver whose store is away until it is told to come back, and whose spool is full soon."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.receive import Receiver, Settings

SPOOL_BYTES = 48 * 1024
OVERLOADED = 2
WAIT_S = 60.0


class Store:
    """Counts how often each span came; refuses all while `back` is not set."""

    def __init__(self) -> None:
        self.back = threading.Event()
        self.spans: Counter[tuple[str, str]] = Counter()

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        if not self.back.is_set():
            raise StoreError("the store is away")
        self.spans.update((span.trace_id, span.span_id) for span in spans)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def receiver(store: Store, tmp_path: Path) -> Iterator[Receiver]:
    settings = Settings(
        spool=tmp_path / "spool",
        grpc_port=0,
        http_port=0,
        spool_bytes=SPOOL_BYTES,
        insert_delay_s=0.01,
        store_backoff_s=0.05,
        retry_after_s=0.2,
    )
    with Receiver(settings, store) as running:
        yield running


@pytest.fixture
def through_an_outage(receiver: Receiver, store: Store) -> Callable[[Callable[[], Any]], None]:
    """Runs a sender; the store comes back once the sender has been told several times to come back later."""

    def run(send: Callable[[], Any]) -> None:
        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        waiting = threading.Event()
        for _ in range(int(WAIT_S / 0.02)):
            if receiver.counters.snapshot()["overloaded"] >= OVERLOADED:
                break
            waiting.wait(0.02)
        assert receiver.counters.snapshot()["overloaded"] >= OVERLOADED, "the spool was never full"
        assert not store.spans
        store.back.set()
        sender.join(WAIT_S)
        assert not sender.is_alive()
        receiver.flush()

    return run
