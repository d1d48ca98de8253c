"""What `Store.set_retention` takes besides days."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Tier:
    """Rows older than `days` go to `volume` of the storage policy `policy`: slower disks, or an object store."""

    policy: str
    volume: str
    days: int
