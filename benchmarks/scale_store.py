"""The store of `scale_tiers` as a process of its own: ClickHouse's wire (tests/store/endpoint) before the real engine.

    python -m benchmarks.scale_store FOLDER

Prints its port, then, for each line that it reads, bytes of requests and answers so far.
"""

from __future__ import annotations

import json
import sys

from tests.store.endpoint import endpoint
from tests.store.endpoint.engine import Engine

from otel_toolselect.store import open_store


def main(folder: str) -> None:
    holder = open_store(f"chdb://{folder}")
    engine = Engine(folder)
    with endpoint(engine) as running:
        print(running.port, flush=True)
        for _ in sys.stdin:
            sent = sum(len(asked.statement.text) + len(asked.statement.body) for asked in running.asked)
            inserts = sum(asked.statement.sql.startswith("INSERT INTO otel_traces") for asked in running.asked)
            print(json.dumps({"bytes": sent, "statements": len(running.asked), "inserts": inserts}), flush=True)
    engine.close()
    holder.close()


if __name__ == "__main__":
    main(sys.argv[1])
