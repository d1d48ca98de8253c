"""Where the spans of a run come from: a receiver of its own, a store that others fill, or nowhere."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otel_toolselect.config import Settings
from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.suites.runner import Folder

if TYPE_CHECKING:
    from otel_toolselect.app.running import Wanted
    from otel_toolselect.assemble import CaseAttributes
    from otel_toolselect.receive import Receiver
    from otel_toolselect.suites.runner import Trial, Watch
    from otel_toolselect.suites.runner.collecting import Collector, Found, Whole

USUAL = {"http/protobuf": 4318, "grpc": 4317}


@contextmanager
def watching(wanted: Wanted, settings: Settings, folder: Folder) -> Iterator[tuple[Watch, str | None]]:
    """Where spans come from, and the endpoint that agents are told, None when they know by themselves."""
    names = _attributes(settings)
    if wanted.from_store:
        from otel_toolselect.store import open_store
        from otel_toolselect.suites.runner.watching import StoreWatch

        store = open_store(settings.dsn, create=False)
        try:
            yield StoreWatch(store, names), None
        finally:
            store.close()
        return
    if wanted.playing.record == "answer":
        yield _Nobody(), None
        return
    from otel_toolselect.receive import Receiver
    from otel_toolselect.receive import Settings as ReceiveSettings
    from otel_toolselect.suites.runner.collecting import Collector

    spool = folder.path / "spool"
    shutil.rmtree(spool, ignore_errors=True)  # what an interrupted run left is of attempts that are run again
    collector = Collector(names)
    asked = _port(wanted)
    wants = ReceiveSettings(
        spool=spool,
        grpc_port=asked if wanted.protocol == "grpc" else None,
        http_port=asked if wanted.protocol != "grpc" else None,
        limits=settings.limits,
        redact=settings.redact,
        insert_delay_s=0.02,
    )
    receiver = Receiver(wants, collector)
    try:
        receiver.start()
    except EnvironmentProblem as error:
        raise EnvironmentProblem(
            f"{error}; name another --port, or look for the agent's spans where they go (--from-store), or take its "
            "answers alone (--record answer)"
        ) from error
    try:
        port = receiver.grpc_port if wanted.protocol == "grpc" else receiver.http_port
        yield _Own(receiver, collector), f"http://127.0.0.1:{port}"
    finally:
        receiver.stop()
    shutil.rmtree(spool, ignore_errors=True)


def _port(wanted: Wanted) -> int:
    if wanted.port is not None:
        return wanted.port
    return 0 if wanted.kind != "http" else USUAL[wanted.protocol]


def _attributes(settings: Settings) -> CaseAttributes:
    from otel_toolselect.assemble import CaseAttributes

    names = settings.case_attributes
    return CaseAttributes(names.case_id, names.suite, names.label, names.attempt, names.expected)


class _Nobody:
    """`Watch` where no spans are wanted: of models, and of agents whose answer alone counts."""

    def open(self, trial: Trial) -> None:
        """Nothing comes."""

    def settle(self) -> bool:
        """Nothing is under way."""
        return True

    def gather(self, trial: Trial, until: Whole, timeout_s: float, stop: threading.Event) -> Found:
        return [], []


class _Own:
    """`Watch` over a receiver of one's own."""

    def __init__(self, receiver: Receiver, collector: Collector) -> None:
        self._receiver, self._collector = receiver, collector
        self.open, self.gather = collector.open, collector.gather

    @property
    def late(self) -> int:
        return self._collector.late

    def settle(self) -> bool:
        self._receiver.flush()
        return True
