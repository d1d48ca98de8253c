"""The month under the real monitor on a real store: decisions arrive, the clock moves from round to round."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from otel_toolselect.model.alerting import Alert, Notification, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.monitor.delivery import Delivery
from otel_toolselect.monitor.files import AlertFiles
from otel_toolselect.monitor.references import Baselines
from otel_toolselect.monitor.routing import Route
from otel_toolselect.monitor.runner import LEASE, Monitor, Rhythm, Watching
from otel_toolselect.monitor.sources import Memory, StoreSource
from otel_toolselect.store import Store, open_store
from tests.monitor.month.plan import Plan
from tests.monitor.month.traffic import SUITE, Arrival
from tests.monitor.month.truth import Told
from tests.monitor.running import AtOnce, Recorder

ALERTS = Path(__file__).parents[1] / "data" / "month.alerts.yaml"


@dataclass(slots=True)
class Watched:
    """`stop_before`, `die_before`: rounds before which the monitor ends, in order or without giving its lease back."""

    plan: Plan
    dsn: str
    hook: Recorder = field(default_factory=Recorder)
    now_ns: int = 0
    lookback_s: float = 0.0

    def through(
        self,
        arrivals: Sequence[Arrival],
        rounds: Sequence[int],
        stop_before: Collection[int] = (),
        die_before: Collection[int] = (),
    ) -> list[Told]:
        """What the receiver got, in order; a second time under a key that it knows is none."""
        found: dict[str, Told] = {}
        left = list(arrivals)
        self.lookback_s = (rounds[0] - self.plan.begin_ns) / 10**9
        seen = 0
        store = open_store(self.dsn)
        monitor = self._monitor(store)
        for now in rounds:
            if now in stop_before or now in die_before:
                if now in die_before:
                    store.alerts.release(LEASE, monitor._owner)  # as if it had run out
                else:
                    monitor.stop()
                store.close()
                store = open_store(self.dsn)
                monitor = self._monitor(store)
            due = [arrival for arrival in left if arrival.at_ns <= now]
            left = left[len(due) :]
            _arrive(store, due)
            self.now_ns = now
            while monitor.round():
                pass
            for n in self.hook.sent[seen:]:
                found.setdefault(n.key, _told(n, now))
            seen = len(self.hook.sent)
        monitor.stop()
        store.close()
        return list(found.values())

    def _monitor(self, store: Store) -> Monitor:
        lead = self.plan.lead
        baselines = Baselines({}, Window(lead.start_ns, lead.end_ns))
        memory = Memory(clock=lambda: self.now_ns / 10**9)

        def source(alert: Alert) -> StoreSource:
            return StoreSource(store, alert.window, baselines, memory)

        def deliver(awake: Callable[[], None]) -> Delivery:
            return AtOnce([self.hook])

        watching = Watching(AlertFiles([str(ALERTS)]), source, [Route(self.hook.name)])
        return Monitor(
            store, watching, deliver, Rhythm(lookback=self.lookback_s, lease=3_600), clock=lambda: self.now_ns
        )


def _arrive(store: Store, due: Sequence[Arrival]) -> None:
    """What is new in one insert: who writes in batches of hours is seen as who writes each minute."""
    store.add_judged([], [d for arrival in due if not arrival.again for d in arrival.decisions])
    for arrival in due:
        if arrival.again:
            store.replace_judged([SUITE], [_run(d) for d in arrival.decisions], [], arrival.decisions)


def _run(decision: Decision) -> Run:
    return Run(decision.run_id, decision.trace_id, (decision.trace_id,), (), start_ns=decision.start_ns)


def _told(n: Notification, now: int) -> Told:
    return Told(n.alert, n.series, n.kind, n.at_ns, now, n.late, n.numerator, n.n)
