"""Opening the store for a command, with a word about whom it is reached through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otel_toolselect.cli._output import say

if TYPE_CHECKING:
    from otel_toolselect.store import Store


@contextmanager
def opened(dsn: str, *, create: bool = True) -> Iterator[Store]:
    """The store, closed at the end. While `serve` holds an embedded store the data is reached through it."""
    from otel_toolselect.store import open_store

    store = open_store(dsn, create=create)
    try:
        if store.via:
            say(f"reaching {store.dsn} through {store.via}")
        yield store
    finally:
        store.close()
