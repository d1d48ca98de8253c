"""How the parts of a running `serve` are, in words, for its first page. What /metrics shows as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from otel_toolselect.app.live import Live
    from otel_toolselect.monitor.runner import Monitor
    from otel_toolselect.receive import Receiver
    from otel_toolselect.store import Store

Condition: TypeAlias = Literal["good", "warn", "bad", "off"]
Facts: TypeAlias = tuple[tuple[str, str], ...]
_LATE_S = 60.0
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the program. `says`: one sentence, and what to do where something is wrong."""

    name: str
    condition: Condition
    says: str
    facts: Facts = ()


PartOf: TypeAlias = Callable[[], Part]


def receiving(receiver: Receiver) -> Part:
    counts, waiting = receiver.counters.snapshot(), receiver.waiting_bytes
    facts = (
        ("spans received", f"{counts['spans']:,}"),
        ("requests refused", f"{counts['refused']:,}"),
        ("waiting for the store", f"{waiting / _MIB:.1f} MiB"),
        ("dead letters", f"{counts['dead_letters']:,}"),
    )
    health = receiver.health
    word = health.readiness if health is not None else "starting"
    if health is not None and not health.alive:
        return Part("Receiver", "bad", "A thread that must run has ended: restart serve.", facts)
    if word == "spool_full":
        return Part("Receiver", "bad", "The spool is full and senders wait: is the store away?", facts)
    if word == "spool_broken":
        return Part("Receiver", "bad", "The disk of the spool takes nothing: make room on it.", facts)
    if counts["dead_letters"]:
        return Part("Receiver", "warn", "Some requests could not be kept: toolselect dead-letter list", facts)
    return Part("Receiver", "good", "Takes what comes, and acknowledges what is on disk.", facts)


def storing(store: Store) -> Part:
    sizes = store.sizes()
    facts = (("place", store.dsn), ("on disk", f"{sum(size.bytes for size in sizes) / _MIB:,.1f} MiB"))
    return Part("Store", "good", "Answers.", facts)


def judging(live: Live | None) -> Part:
    if live is None:
        says = "Nothing is judged as it arrives: name suites or rule files in [live], or --suite and --rules."
        return Part("Live judging", "off", says)
    counts = live.judge.snapshot()
    facts = (
        ("traces judged", f"{counts.traces:,}"),
        ("waiting", f"{counts.waiting_traces:,} traces"),
        ("oldest waits since", f"{counts.lag_s:.0f} s"),
    )
    if live.files.problem is not None:
        return Part(
            "Live judging", "bad", f"A file is broken, its last good version is in force: {live.files.problem}", facts
        )
    if counts.faults:
        return Part("Live judging", "warn", f"{counts.faults} traces could not be judged: see the log.", facts)
    if counts.lag_s > _LATE_S:
        return Part("Live judging", "warn", "Traces wait for long: the store or this machine is slow.", facts)
    return Part("Live judging", "good", "Keeps up with what arrives.", facts)


def monitoring(monitor: Monitor | None) -> Part:
    if monitor is None:
        return Part("Monitor", "off", "No alerts are watched: name alert files in [monitor].")
    figures = monitor.figures
    facts = (
        ("rounds", f"{figures.rounds:,}"),
        ("notifications delivered", f"{figures.delivered:,}"),
        ("given up", f"{figures.dead:,}"),
    )
    if figures.problems:
        return Part("Monitor", "bad", f"{figures.problems} files are broken: toolselect monitor check", facts)
    if figures.failed_in_row:
        return Part("Monitor", "warn", f"{figures.failed_in_row} rounds in a row ended early: see the log.", facts)
    if not figures.holder and figures.rounds:
        return Part("Monitor", "good", "Stands by: another monitor on this store evaluates.", facts)
    return Part("Monitor", "good", "Evaluates alerts as windows close.", facts)
