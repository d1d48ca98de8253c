"""kill -9 at each point of a round, and a restart: nothing missed, nothing doubled (issue F)."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from otel_toolselect.store import open_store
from tests.monitor.mortal import POINTS
from tests.monitor.running import ALERTS, traffic

ROOT = Path(__file__).parents[2]


def test_killed_at_each_point_of_a_round(tmp_path: Path) -> None:
    dsn, alerts, received = f"chdb://{tmp_path / 'store'}", tmp_path / "shop.alerts.yaml", tmp_path / "received"
    alerts.write_text(ALERTS)
    store = open_store(dsn)
    for window in range(20):  # each window changes the state
        store.add_judged([], traffic(5 * window, 10, 0 if window % 2 else 10))
    store.close()
    for point in (*POINTS, "never"):
        ended = subprocess.run(
            [sys.executable, "-m", "tests.monitor.mortal", dsn, str(alerts), str(received), point],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == (0 if point == "never" else -signal.SIGKILL), (point, ended.stderr)
    lines = received.read_text().splitlines()
    told = [line for line, _ in groupby(lines)]
    expected = [f"wrong{{}}#{n + 1} {'resolve' if n % 2 else 'fire'}" for n in range(20)]
    # once each, for a receiver that knows keys; that one message was sent and the process died before it could note it
    # can be known to nobody but the receiver
    assert told == expected
    assert len(lines) <= len(expected) + 1
    store = open_store(dsn)
    sendings = store.alerts.sendings()
    (record,) = (r for r in store.alerts.records() if r.alert == "wrong")
    store.close()
    assert [(s.key, s.outcome) for s in reversed(sendings)] == [(e.split()[0], "delivered") for e in expected]
    assert '"outbox":[]' in record.record
