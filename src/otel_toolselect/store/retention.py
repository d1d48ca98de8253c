"""How long spans and log records are kept: a TTL of the tables, which ClickHouse applies when it cleans up.

A row is as old as its own time or its arrival, whichever is earlier: what is dated in the future ages from its arrival,
so that no partition stays for ever. One without a time ages from its arrival as well.
"""

from __future__ import annotations

import re

from otel_toolselect.errors import StoreError
from otel_toolselect.store import queries
from otel_toolselect.store.queries import LOGS, SPANS, Tables
from otel_toolselect.store.session import Session

LONGEST_DAYS = 36_500
_AGE = "toDateTime(if(toUnixTimestamp64Nano(Timestamp) = 0, ReceivedAt, least(Timestamp, ReceivedAt)), 'UTC')"
_DAYS = re.compile(r"\sTTL\s.*?toIntervalDay\((\d+)\)", re.DOTALL)


def set_days(session: Session, tables: Tables, days: int | None) -> None:
    """See `Store.set_retention`."""
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise StoreError(f"a retention is 1 to {LONGEST_DAYS} days, not {days}", retryable=False)
    for table in (SPANS, LOGS):
        if tables.foreign(table):
            raise StoreError(
                f"the table {table} at {session.where} was made by a Collector, whose settings say how long it keeps; "
                "name another database in --store for a retention of toolselect's own",
                retryable=False,
            )
        if days == _days(session, table):
            continue
        change = "REMOVE TTL" if days is None else f"MODIFY TTL {_AGE} + toIntervalDay({days:d})"
        session.execute(f"ALTER TABLE {table} {change}")


def _days(session: Session, table: str) -> int | None:
    found = session.select(queries.TABLE_TEXT, {"name": table})["Text"]
    days = _DAYS.search(found[0])
    return int(days[1]) if days else None
