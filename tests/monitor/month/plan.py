"""What happens in the month, and when. Days count from 1, a Monday, and are those of Berlin; day 14 has 25 hours.

A week before day 1 is there as a baseline and is not watched.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

ZONE = "Europe/Berlin"
DAYS = 31
LEAD_DAYS = 7
MINUTE = 60 * 10**9
HOUR = 60 * MINUTE
YEAR = 365 * 24 * HOUR

AGENTS = {"billing": 0.3, "orders": 0.4, "help": 0.3}
SHARES = {"issue_refund": 0.10, "get_invoice": 0.10, "cancel_order": 0.07, "track_parcel": 0.06}
OTHERS = [
    f"{verb}_{noun}"
    for verb in ("get", "list", "update", "search", "send", "check")
    for noun in ("account", "address", "contract", "coupon", "payment", "ticket")
]
TOOLS = [*SHARES, *OTHERS]
RECALL = 0.95


def at(day: int, clock: str = "00:00") -> int:
    """Nanoseconds of a time on the wall in Berlin; of one that comes twice the first."""
    hour, minute = map(int, clock.split(":"))
    local = datetime(2026, 10, 12, tzinfo=ZoneInfo(ZONE)) + timedelta(days=day - 1, hours=hour, minutes=minute)
    return int(local.timestamp()) * 10**9


@dataclass(frozen=True, slots=True)
class Stretch:
    """[start, end): from a day and clock time to another."""

    start_ns: int
    end_ns: int

    def __contains__(self, time_ns: object) -> bool:
        return isinstance(time_ns, int) and self.start_ns <= time_ns < self.end_ns


def on(day: int, begins: str, ends: str) -> Stretch:
    return Stretch(at(day, begins), at(day, ends))


@dataclass(frozen=True, slots=True)
class Plan:
    """`scale` multiplies the traffic: about 770 decisions a weekday at 1. Each incident stands alone."""

    seed: int
    scale: float
    outage: Stretch
    outage_share: float
    confusion: Stretch
    confusion_share: float
    relabelled: Stretch
    relabelled_ns: int
    relabelled_share: float
    late: Stretch
    late_ns: int
    late_confused: int
    silent: Stretch
    redelivered: Stretch
    redelivered_ns: int
    release_ns: int
    rollout_ns: int
    fix_ns: int
    weak_tool: str
    weak_recall: float
    dearer_ns: int
    dearer: float
    campaign: Stretch
    campaign_tool: str
    campaign_factor: float
    forbidden: tuple[int, ...]
    skewed_ns: tuple[int, ...]

    @property
    def begin_ns(self) -> int:
        return at(1)

    @property
    def end_ns(self) -> int:
        return at(DAYS + 1)

    @property
    def lead(self) -> Stretch:
        return Stretch(at(1 - LEAD_DAYS), at(1))


def planned(seed: int = 1, scale: float = 1.0) -> Plan:
    return Plan(
        seed=seed,
        scale=scale,
        outage=on(6, "09:00", "12:00"),
        outage_share=0.6,
        confusion=on(9, "12:00", "16:00"),
        confusion_share=0.7,
        relabelled=on(10, "00:00", "24:00"),
        relabelled_ns=at(12, "10:00"),
        relabelled_share=0.14,
        late=on(13, "14:00", "15:00"),
        late_ns=at(14, "05:00"),
        late_confused=6,
        silent=on(16, "00:00", "24:00"),
        redelivered=on(17, "10:00", "13:00"),
        redelivered_ns=at(18, "12:00"),
        release_ns=at(20, "09:00"),
        rollout_ns=at(20, "09:20"),
        fix_ns=at(28, "06:00"),
        weak_tool="cancel_order",
        weak_recall=0.35,
        dearer_ns=at(22),
        dearer=1.6,
        campaign=Stretch(at(25), at(27)),
        campaign_tool="track_parcel",
        campaign_factor=5.0,
        skewed_ns=(at(5, "11:00"), at(26, "11:00")),
        # the second is in the 25th hour of its day
        forbidden=(at(4, "15:20"), at(14, "23:30"), at(18, "10:10"), at(18, "10:40"), at(18, "13:30")),
    )
