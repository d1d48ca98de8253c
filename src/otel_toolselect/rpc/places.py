"""Where a stream of decisions stands, and how that is written: what clients call a cursor.

A place is a cursor of the store, and how much was told of the insert right behind it. On the wire the cursor of the
store is the longer part, which a message has once; what a decision adds to it is its key, so that each decision has a
place of its own (`StreamedVerdict.cursor_suffix`). Of several suffixes the last one holds.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import dataclass

from otel_toolselect.errors import InputError
from otel_toolselect.model.decisions import Decision
from otel_toolselect.store import Cursor

Key = tuple[str, int, str, str]
_MARK = "~"
_LONGEST = 64 * 1024
_MOST_INFLATED = 1024 * 1024


def key_of(decision: Decision) -> Key:
    """What orders the decisions of one insert."""
    return decision.suite, decision.start_ns, decision.run_id, decision.rule


@dataclass(frozen=True, slots=True)
class Part:
    """Of the `rows` decisions of the insert at `kept_ns` those up to `last` were told."""

    kept_ns: int
    rows: int
    last: Key

    def __str__(self) -> str:
        text = json.dumps([self.kept_ns, self.rows, *self.last], separators=(",", ":"))
        return _MARK + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Place:
    """`part` None: nothing was told of what is behind the cursor."""

    cursor: Cursor
    part: Part | None = None

    def __str__(self) -> str:
        packed = base64.urlsafe_b64encode(zlib.compress(str(self.cursor).encode())).decode().rstrip("=")
        return packed + (str(self.part) if self.part is not None else "")

    def told_of(self, kept_ns: int, rows: int, key: Key) -> bool:
        """Whether a decision was told. When more came under the same time meanwhile, all of it is told again."""
        part = self.part
        return part is not None and part.kept_ns == kept_ns and rows <= part.rows and key <= part.last


def parse(text: str) -> Place:
    """Raises InputError for what is none."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        packed, *parts = text.split(_MARK)
        inflater = zlib.decompressobj()
        cursor = Cursor.parse(inflater.decompress(_bytes(packed), _MOST_INFLATED).decode())
        return Place(cursor, _part(parts[-1]) if parts else None)
    except (ValueError, TypeError, zlib.error, binascii.Error, RecursionError, OverflowError):
        raise InputError("is none that a stream gave; leave it out to begin anew", where="cursor") from None


def _part(text: str) -> Part:
    kept_ns, rows, suite, start_ns, run_id, rule = json.loads(_bytes(text))
    return Part(int(kept_ns), int(rows), (str(suite), int(start_ns), str(run_id), str(rule)))


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
