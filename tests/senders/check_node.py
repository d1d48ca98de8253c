"""The official Node.js exporters through an outage of the store. Run by `make senders`, which installs them.

Not part of `make test`, by its name: it needs Node.js and a package registry. The HTTP exporters try again, so they
lose nothing. The gRPC exporter (0.223) does not try again whatever the answer says; the batches that it drops by its
own word are not acknowledged and so not owed, and all others arrive.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from otel_toolselect.receive import Receiver
from tests.senders.conftest import WAIT_S, Store

INSTALLED = Path(os.environ.get("TOOLSELECT_NODE_SENDERS", "build/senders"))
SPANS = 600


@pytest.mark.parametrize("protocol", ["grpc", "json", "protobuf"])
def test_back_pressure_loses_nothing(
    protocol: str, receiver: Receiver, store: Store, through_an_outage: Callable[[Callable[[], None]], None]
) -> None:
    endpoint = f"http://127.0.0.1:{receiver.grpc_port}"
    if protocol != "grpc":
        endpoint = f"http://127.0.0.1:{receiver.http_port}/v1/traces"
    done: list[subprocess.CompletedProcess[str]] = []

    def send() -> None:
        command = ["node", "send.mjs", protocol, endpoint, str(SPANS)]
        done.append(subprocess.run(command, cwd=INSTALLED, capture_output=True, text=True, timeout=WAIT_S, check=False))

    through_an_outage(send)
    assert done[0].returncode == 0, done[0].stderr
    told = {what: {tuple(ids) for ids in found} for what, found in json.loads(done[0].stdout).items()}
    assert len(told["made"]) == SPANS
    assert told["made"] == told["taken"] | told["dropped"]
    if protocol != "grpc":
        assert not told["dropped"]
    assert store.spans.keys() == told["taken"]
    assert set(store.spans.values()) == {1}
