"""Prints what the store of a DSN holds, as its readers see it: `python -m tests.faults.stored DSN`."""

from __future__ import annotations

import json
import sys

from otel_toolselect.store import open_store


def main(dsn: str) -> None:
    store = open_store(dsn, create=False)
    try:
        ids = [span.span_id for spans, _ in store.traces() for span in spans]
        counted = store.overview()
        assert sum(scope.spans for scope in counted.scopes) == counted.spans
        print(json.dumps({"ids": ids, "spans": counted.spans}))
    finally:
        store.close()


if __name__ == "__main__":
    main(sys.argv[1])
