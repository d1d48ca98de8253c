"""One server per module, with traffic of two tenants: of a 1 and 2, of b 3 (see `traffic`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otel_toolselect.app.serving import Serving
from tests.rpc import traffic


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with traffic.server(traffic.settings_in(tmp_path_factory.mktemp("serve"))) as running:
        traffic.send(running, "send-a", traffic.where(1), traffic.blind(2))
        traffic.send(running, "send-b", traffic.wrong(3))
        traffic.judged(running, 6)  # each under the suite and under the rule
        yield running
