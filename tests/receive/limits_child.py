"""A receiver in a process of its own, whose memory can be looked at: prints its ports, then serves until its input
ends, and prints what it refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from otel_toolselect.config import Limits
from otel_toolselect.receive import Receiver, Settings, gate


class Nowhere:
    def insert(self, spans, logs, /) -> None:
        pass


gate.PATIENCE_S = 0.3  # seconds of a test are dear
limits = Limits(**json.loads(sys.argv[2]))
settings = Settings(
    spool=Path(sys.argv[1]), grpc_port=0, http_port=0, limits=limits, max_request_bytes=limits.request_bytes, stop_s=1.0
)
receiver = Receiver(settings, Nowhere()).start()
print(receiver.grpc_port, receiver.http_port, flush=True)
sys.stdin.read()
receiver.stop()  # before it counts: an answer leaves before it is counted
print(json.dumps(receiver.counters.by_label().refusals), flush=True)
