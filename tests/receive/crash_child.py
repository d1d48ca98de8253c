"""A receiver whose store is away, for a test to kill: prints its HTTP port, then serves until it dies."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from otel_toolselect.errors import StoreError
from otel_toolselect.receive import Receiver, Settings


class Away:
    def insert(self, spans, logs, /) -> None:
        raise StoreError("the store is away")


receiver = Receiver(Settings(spool=Path(sys.argv[1]), grpc_port=None, http_port=0), Away()).start()
print(receiver.http_port, flush=True)
threading.Event().wait()
