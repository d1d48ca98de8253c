"""Cursors of lists: a place in an order as a text that fits an address. Opaque to everybody else."""

from __future__ import annotations

import base64
import json
from math import isfinite
from typing import Any

from otel_toolselect.errors import UsageError
from otel_toolselect.store.browse_api import Sort
from otel_toolselect.store.browse_queries import Order, Place

_MOST = 2**127 - 1


def text(order: Order, place: Place) -> str:
    held = [order.sort, int(order.descending), int(order.backwards), place.missing, place.value, place.run_id]
    return base64.urlsafe_b64encode(json.dumps(held, separators=(",", ":")).encode()).decode().rstrip("=")


def parse(cursor: str, sort: Sort, descending: bool) -> tuple[Order, Place]:
    """Raises UsageError for a text that is no cursor, or one of another order."""
    wrong = UsageError("cursor: not one that a list gave; ask for its first page without a cursor")
    try:
        held: Any = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        kept, down, backwards, missing, value, run_id = held
    except (ValueError, TypeError) as error:
        raise wrong from error
    flags = (down, backwards, missing)
    if not (all(flag in (0, 1) for flag in flags) and isinstance(run_id, str) and _is_value(kept, value)):
        raise wrong
    if (kept, bool(down)) != (sort, descending):
        raise UsageError("cursor: of a list in another order; ask for its first page without a cursor")
    return Order(sort, descending, bool(backwards)), Place(int(missing), value, run_id)


def _is_value(sort: Any, value: Any) -> bool:
    """Whether a database would take the value for what is sorted by."""
    if not isinstance(value, str) or len(value) > 50:
        return False
    try:
        if sort == "cost":
            return isfinite(float(value))
        number = int(value)
    except ValueError:
        return False
    if sort in ("start", "calls"):
        return 0 <= number < 2**64
    return abs(number) < (2**63 if sort == "duration" else _MOST)
