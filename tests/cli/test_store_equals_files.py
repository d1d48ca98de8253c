"""The same path serves files and stored spans: what comes out of the store is what comes out of the files (design
section 3).
"""

from __future__ import annotations

from pathlib import Path

from otel_toolselect import app
from otel_toolselect.store import open_store
from tests.dialects.captures import ALL, runs_of, signals


def test_every_capture_reads_the_same_through_the_store(tmp_path: Path) -> None:
    store = open_store(f"chdb://{tmp_path}/store")
    try:
        for scenario in ALL:
            store.insert(*signals(scenario))
        wanted = runs_of(tuple(s for c in ALL for s in signals(c)[0]), tuple(r for c in ALL for r in signals(c)[1]))
        assert app.runs_from_store(store) == wanted
    finally:
        store.close()
