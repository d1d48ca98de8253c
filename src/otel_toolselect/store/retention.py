"""How long rows are kept, and on which disks: a TTL of the tables, which ClickHouse applies when it cleans up.

A span or log record is as old as its own time or its arrival, whichever is earlier: what is dated in the future ages
from its arrival, so that no partition stays for ever. One without a time ages from its arrival as well. What was
judged is as old as the time at which it was written: so no row outlives the one that replaced it, to be seen again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.errors import StoreError
from otel_toolselect.store import queries
from otel_toolselect.store.cluster import local
from otel_toolselect.store.ddl import literal
from otel_toolselect.store.migrations import execute
from otel_toolselect.store.queries import LOGS, SPANS, Tables
from otel_toolselect.store.retention_api import LONGEST_DAYS, Tier
from otel_toolselect.store.session import Session

_AGE = "toDateTime(if(toUnixTimestamp64Nano(Timestamp) = 0, ReceivedAt, least(Timestamp, ReceivedAt)), 'UTC')"
_WRITTEN = "toDateTime(intDiv(Version, 1000000000), 'UTC')"
JUDGED = ("runs", "run_texts", "verdicts", "judgements")
LARGE = (SPANS, LOGS, "runs", "verdicts")
"""What a tier is for: the rest is small, or read by every window."""
_TTL = re.compile(r"\sTTL\s(?P<ttl>.*?)(?=\sSETTINGS\s|$)", re.DOTALL)
_RULE = re.compile(r"toIntervalDay\((\d+)\)(?:\s+TO VOLUME '((?:[^'\\]|\\.)*)')?")
_POLICY = re.compile(r"\bstorage_policy = '((?:[^'\\]|\\.)*)'")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a table says, or should say: its policy, and days by volume, "" for those after which rows are deleted."""

    policy: str
    rules: Mapping[str, int]


def apply(session: Session, tables: Tables, days: int | None, run_days: int | None, tier: Tier | None) -> None:
    """See `Store.set_retention`."""
    for given in (days, run_days, tier.days if tier else None):
        if given is not None and not 1 <= given <= LONGEST_DAYS:
            raise StoreError(f"a retention is 1 to {LONGEST_DAYS} days, not {given}", retryable=False)
    if tier is not None:
        _check_tier(session, tier, days, run_days)
    for table in (SPANS, LOGS, *JUDGED):
        if tables.foreign(table) and table in (SPANS, LOGS):
            raise StoreError(
                f"the table {table} at {session.where} was made by a Collector, whose settings say how long it keeps; "
                "name another database in --store for a retention of toolselect's own",
                retryable=False,
            )
        limit = run_days if table in JUDGED else days
        moved = tier if table in LARGE else None
        rules = ({moved.volume: moved.days} if moved else {}) | ({"": limit} if limit else {})
        _change(session, table, _Kept(moved.policy if moved else "", rules))


def _change(session: Session, table: str, wanted: _Kept) -> None:
    on = session.cluster.on if session.cluster else ""
    held = local(table) if session.cluster else table
    text = session.select(queries.TABLE_TEXT, {"name": held})["Text"][0]
    now = _kept(text)
    alter = f"ALTER TABLE {held}{on}"
    if wanted.policy and wanted.policy != now.policy:
        execute(session, f"{alter} MODIFY SETTING storage_policy = {literal(wanted.policy)}")
    if wanted.rules == now.rules:
        return
    age = _WRITTEN if table in JUDGED else _AGE
    rules = [
        f"{age} + toIntervalDay({days:d})" + (f" TO VOLUME {literal(volume)}" if volume else "")
        for volume, days in wanted.rules.items()
    ]
    execute(session, f"{alter} MODIFY TTL {', '.join(rules)}" if rules else f"{alter} REMOVE TTL")


def _kept(text: str) -> _Kept:
    """What the statement that would make a table says."""
    ttl, policy = _TTL.search(text), _POLICY.search(text)
    rules = {volume: int(days) for days, volume in _RULE.findall(ttl["ttl"] if ttl else "")}
    return _Kept(policy[1] if policy else "", rules)


def described(text: str) -> str:
    """For people: "moved to cold after 7 days, deleted after 90 days"; "" for a table that keeps all where it is."""
    kept = _kept(text)
    parts = [f"moved to {volume} after {_days(days)}" for volume, days in kept.rules.items() if volume]
    return ", ".join(parts + ([f"deleted after {_days(kept.rules[''])}"] if "" in kept.rules else []))


def _days(count: int) -> str:
    return f"{count} day" if count == 1 else f"{count} days"


def _check_tier(session: Session, tier: Tier, days: int | None, run_days: int | None) -> None:
    shortest = min((d for d in (days, run_days) if d is not None), default=None)
    if shortest is not None and tier.days >= shortest:
        raise StoreError(
            f"rows would be moved to {tier.volume!r} after {tier.days} days, but are deleted after {shortest}; "
            "set retention.move_after_days below the days of the retention",
            retryable=False,
        )
    found = session.select(queries.STORAGE_VOLUMES)
    volumes: dict[str, list[str]] = {}
    for policy, volume in zip(found.get("Policy", ()), found.get("Volume", ()), strict=True):
        volumes.setdefault(policy, []).append(volume)
    if tier.policy not in volumes:
        raise StoreError(
            f"the store at {session.where} has no storage policy {tier.policy!r}, only {', '.join(sorted(volumes))}; "
            "add it to <storage_configuration> of the server, or set retention.storage_policy to one of these",
            retryable=False,
        )
    if tier.volume not in volumes[tier.policy]:
        raise StoreError(
            f"the storage policy {tier.policy!r} at {session.where} has no volume {tier.volume!r}, only "
            f"{', '.join(volumes[tier.policy])}; set retention.move_to to one of these",
            retryable=False,
        )
