"""Bytes of the spool that are no whole record: a write that the power or a kill cut short, or a disk that lost some."""

from __future__ import annotations

import logging
import zlib

from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.segments import Damage, Segment

log = logging.getLogger(__name__)


class DamageReport:
    """Keeps them among the dead letters, each stretch once however often its segment is read."""

    def __init__(self, dead: DeadLetters, counters: Counters) -> None:
        self._dead = dead
        self._counters = counters

    def __call__(self, segment: Segment, damage: Damage) -> bool:
        """Whether they are kept. Raises nothing."""
        # numbers of segments are used again, their random marks are not
        mark = segment.marker.hex() or f"{zlib.crc32(damage.data):08x}"
        name = f"{segment.path.stem.lstrip('0') or '0'}-{mark}-{damage.offset}"
        if self._dead.has_torn(name):
            return True
        self._counters.add(torn_bytes=len(damage.data))
        log.warning("spool segment %s: %d bytes of it are no whole record", segment.path.name, len(damage.data))
        about = {"reason": "part of a spool segment that is no whole record", "segment": segment.path.name}
        return self._dead.keep_torn(name, damage.data, about)
