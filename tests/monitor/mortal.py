"""A monitor in a process of its own that kills itself, as `kill -9` would, at a named point of its work:

    python -m tests.monitor.mortal DSN ALERTS RECEIVED POINT

POINT is the name of a function below, or "never". What a receiver gets is a line in the file RECEIVED. One window a
round: its clock goes by what the store remembers.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from otel_toolselect.model.alerting import Notification
from otel_toolselect.monitor.delivery import Delivery
from otel_toolselect.monitor.files import AlertFiles
from otel_toolselect.monitor.routing import Route
from otel_toolselect.monitor.runner import Monitor, Rhythm, Watching
from otel_toolselect.monitor.sources import StoreSource
from otel_toolselect.store import Store, open_store
from tests.monitor.running import MINUTE
from tests.store.builders import T0

ROUNDS_BEFORE = 3
END_NS = T0 + 20 * 5 * MINUTE


class FileNotifier:
    name = "file"

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, notifications: Sequence[Notification]) -> None:
        with self._path.open("a") as file:
            for n in notifications:
                file.write(f"{n.key} {n.kind}\n")
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        pass


def die(*_: object, **__: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def decided_and_not_stored(store: Store, monitor: Monitor) -> None:
    store.alerts.write_records = die  # type: ignore[method-assign]


def stored_and_not_sent(store: Store, monitor: Monitor) -> None:
    monitor._send = die  # type: ignore[method-assign]


def sent_and_not_noted(store: Store, monitor: Monitor) -> None:
    noted = store.alerts.add_sendings

    def note(sendings: Any) -> None:
        rows = list(sendings)
        if rows:
            die()
        noted(rows)

    store.alerts.add_sendings = note  # type: ignore[method-assign]


def noted_and_not_acknowledged(store: Store, monitor: Monitor) -> None:
    acknowledge = monitor._acknowledge

    def die_with_something_to_say() -> None:
        if monitor._settled:
            die()
        acknowledge()

    monitor._acknowledge = die_with_something_to_say  # type: ignore[method-assign]


POINTS: dict[str, Callable[[Store, Monitor], None]] = {
    f.__name__: f for f in (decided_and_not_stored, stored_and_not_sent, sent_and_not_noted, noted_and_not_acknowledged)
}


def wait_for_the_receiver(monitor: Monitor) -> None:
    """Until what was submitted has arrived, so that never more than one message is on its way: of those that were sent
    and not noted each comes again, and on a busy machine that may be several.
    """
    end = time.monotonic() + 10
    while monitor.figures.holder and time.monotonic() < end:
        known = {s.key for s in monitor._delivery._settled} | {key for key, _ in monitor._settled}
        if all(n.key in known for state in monitor._states.all().values() for n in state.outbox):
            return
        time.sleep(0.01)


def main(dsn: str, alerts: str, received: str, point: str) -> None:
    store = open_store(dsn)
    files = AlertFiles([alerts])
    watching = Watching(files, lambda alert: StoreSource(store, alert.window), [Route("file")])
    notifier = FileNotifier(Path(received))

    def through() -> int:
        return max((r.through_ns for r in store.alerts.records()), default=T0)

    monitor = Monitor(
        store,
        watching,
        lambda awake: Delivery([notifier], give_up_s=60, on_settled=awake),
        Rhythm(lease=4.0),  # does not lapse in the middle of a round on a busy machine
        clock=lambda: min(through() + 5 * MINUTE, END_NS),
    )
    rounds = 0
    while through() < END_NS or monitor._states.all()[("wrong", ())].outbox:
        monitor.round()
        wait_for_the_receiver(monitor)
        if monitor.figures.holder:
            rounds += 1
        else:
            time.sleep(0.1)  # until the lease of one that died has lapsed
        if rounds == ROUNDS_BEFORE and point in POINTS:
            POINTS[point](store, monitor)
    monitor.stop()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
