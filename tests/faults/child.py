"""The command line, with faults built in as the environment says; without, it is the real one as it stands.

FAULT_STORE: the share of inserts that fail, half of them before the spans are in, half of them after. FAULT_REFUSE: the
name of spans that the store refuses for good. FAULT_DISK: a file; while it is there, the spool's disk is full.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from otel_toolselect.cli import main


def failing_store(share: float) -> None:
    from otel_toolselect.errors import StoreError
    from otel_toolselect.store.clickhouse import ClickHouseStore

    insert = ClickHouseStore.insert

    def unsure(self: Any, spans: Sequence[Any], logs: Sequence[Any]) -> None:
        fails = random.random() < share
        if fails and random.random() < 0.5:
            raise StoreError("not now")
        insert(self, spans, logs)
        if fails:
            raise StoreError("perhaps")

    ClickHouseStore.insert = unsure  # type: ignore[method-assign]


def refusing_store(name: str) -> None:
    from otel_toolselect.errors import StoreError
    from otel_toolselect.store.clickhouse import ClickHouseStore

    insert = ClickHouseStore.insert

    def picky(self: Any, spans: Sequence[Any], logs: Sequence[Any]) -> None:
        if any(span.name == name for span in spans):
            raise StoreError("it does not like this", retryable=False)
        insert(self, spans, logs)

    ClickHouseStore.insert = picky  # type: ignore[method-assign]


def full_disk(flag: Path) -> None:
    from otel_toolselect.receive import segments

    write = os.write

    def limited(handle: int, data: Any) -> int:
        if flag.exists():
            half = bytes(data)[: len(data) // 2]
            if half:
                write(handle, half)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data)

    segments.os.write = limited  # type: ignore[attr-defined]


if __name__ == "__main__":
    if "FAULT_STORE" in os.environ:
        failing_store(float(os.environ["FAULT_STORE"]))
    if "FAULT_REFUSE" in os.environ:
        refusing_store(os.environ["FAULT_REFUSE"])
    if "FAULT_DISK" in os.environ:
        full_disk(Path(os.environ["FAULT_DISK"]))
    main()
