"""What an insert costs by its size, and what spans take on disk by how they are compressed.

    python -m benchmarks.inserts [RUNS]

Spans of `benchmarks.load` (3,000 runs of seven spans when nothing is said) go into a fresh embedded store: in inserts
of each size, and in one size under each codec of the attributes, which are nine tenths of the bytes. Processor time is
that of this process with the engine in it, the best of ROUNDS; parts are those that the inserts made, before any merge;
bytes are those of the merged table. Spans are decoded beforehand, which is no part of it.

Not measured: the queue of a server's asynchronous inserts, which the embedded engine does not have, and a network.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.load import Load, Shape

from otel_toolselect.model.spans import Span
from otel_toolselect.otlp.protodecode import decode_traces
from otel_toolselect.store import clickhouse, open_store
from otel_toolselect.store.clickhouse import ClickHouseStore

ROUNDS = 2
SIZES = (50, 200, 1_000, 4_000, 8_000, 16_000)
CODECS = ("LZ4", "ZSTD(1)", "ZSTD(3)", "ZSTD(6)", "ZSTD(9)", "ZSTD(2, 23)")
_SETTINGS = " SETTINGS (min_compress_block_size = 8388608, max_compress_block_size = 8388608)"


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of processor time per 1,000 spans: of the inserts, and of merging all into one part."""

    insert_ms: float
    merge_ms: float
    parts: int
    bytes_per_span: float


def spans_of(runs: int) -> list[Span]:
    load = Load(Shape(runs=runs))
    return [span for request in load.requests() for span in decode_traces(request.body).spans]


def measured(spans: Sequence[Span], size: int, codec: str | None = None) -> Cost:
    """One round in a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(folder)
        assert isinstance(store, ClickHouseStore)
        session = store._session
        session.execute("SYSTEM STOP MERGES otel_traces")
        if codec is not None:
            kind = "Map(LowCardinality(String), String)"
            session.execute(f"ALTER TABLE otel_traces MODIFY COLUMN SpanAttributes {kind} CODEC({codec}){_SETTINGS}")
        gc.collect()
        began = time.process_time()
        for start in range(0, len(spans), size):
            store.insert(spans[start : start + size], [])
        inserted = time.process_time()
        (before,) = (one for one in store.sizes() if one.table == "otel_traces")
        session.execute("SYSTEM START MERGES otel_traces")
        session.execute("OPTIMIZE TABLE otel_traces FINAL")
        merged = time.process_time()
        (after,) = (one for one in store.sizes() if one.table == "otel_traces")
        store.close()
    thousands = len(spans) / 1_000
    return Cost(
        insert_ms=(inserted - began) * 1_000 / thousands,
        merge_ms=(merged - inserted) * 1_000 / thousands,
        parts=before.parts,
        bytes_per_span=after.bytes / len(spans),
    )


def best(spans: Sequence[Span], size: int, codec: str | None = None) -> Cost:
    rounds = [measured(spans, size, codec) for _ in range(ROUNDS)]
    return min(rounds, key=lambda cost: cost.insert_ms + cost.merge_ms)


def main() -> None:
    spans = spans_of(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000)
    clickhouse.ROWS_PER_INSERT = max(SIZES)
    print(f"{len(spans):,} spans; milliseconds of processor time per 1,000 spans\n")
    print("| spans an insert | insert | merge | parts | bytes/span |\n| ---: | ---: | ---: | ---: | ---: |")
    for size in SIZES:
        _row(f"{size:,}", best(spans, size))
    print("\n| codec of the attributes | insert | merge | parts | bytes/span |\n| --- | ---: | ---: | ---: | ---: |")
    for codec in CODECS:
        _row(codec, best(spans, 8_000, codec))


def _row(name: str, cost: Cost) -> None:
    print(
        f"| {name} | {cost.insert_ms:.1f} | {cost.merge_ms:.1f} | {cost.parts} | {cost.bytes_per_span:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
