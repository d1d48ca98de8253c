"""The store as such: its schema, what is kept how long, who may do what. Behind `toolselect store` and `serve`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect.config import Retention, Settings
from otel_toolselect.errors import StoreMissingError, UsageError

if TYPE_CHECKING:
    from otel_toolselect.store import Store, Tier


@dataclass(frozen=True, slots=True)
class Migrating:
    """Migrations that are missing, as `0001_spans`, and the statements that apply them."""

    pending: tuple[str, ...]
    statements: tuple[str, ...]


def apply_retention(store: Store, wanted: Retention) -> None:
    """Settings to tables. UsageError for settings that say half of something; `StoreError` as `Store.set_retention`."""
    store.set_retention(wanted.days or None, run_days=wanted.run_days or None, tier=tier_of(wanted))


def tier_of(wanted: Retention) -> Tier | None:
    from otel_toolselect.store import Tier

    given = {
        "retention.storage_policy": wanted.storage_policy,
        "retention.move_to": wanted.move_to,
        "retention.move_after_days": wanted.move_after_days,
    }
    missing = [name for name, value in given.items() if not value]
    if len(missing) == len(given):
        return None
    if missing:
        raise UsageError(f"rows can only be moved to other disks with {' and '.join(missing)} set as well")
    return Tier(wanted.storage_policy, wanted.move_to, wanted.move_after_days)


def pending(dsn: str) -> Migrating:
    """What `migrate` would do; nothing is changed, and what is not there is not made."""
    from otel_toolselect.store import open_store
    from otel_toolselect.store.dsn import Remote, parse
    from otel_toolselect.store.migrations import from_nothing, shipped

    try:
        store = open_store(dsn, create=False)
    except StoreMissingError:
        place = parse(dsn)
        made = from_nothing(place.database, place.cluster if isinstance(place, Remote) else None)
        return Migrating(tuple(migration.label for migration in shipped()), tuple(made))
    try:
        state = store.state()
    finally:
        store.close()
    return Migrating(state.pending, state.statements)


def migrate(settings: Settings) -> tuple[str, ...]:
    """The schema brought up to date, and the retention as the settings say; what was pending before."""
    from otel_toolselect.store import open_store

    before = pending(settings.dsn)
    store = open_store(settings.dsn)
    try:
        apply_retention(store, settings.retention)
    finally:
        store.close()
    return before.pending


def grants(dsn: str, users: Sequence[str]) -> str:
    """Statements for an administrator; `users` as `writer=NAME`. UsageError for an embedded store and unknown roles."""
    from otel_toolselect.store import grants
    from otel_toolselect.store.dsn import Remote, parse

    place = parse(dsn)
    if not isinstance(place, Remote):
        raise UsageError(
            "an embedded store has no users: its folder is for whoever may read it; give --store clickhouse://..."
        )
    wanted: dict[grants.Role, str] = {}
    for text in users:
        said, _, name = text.partition("=")
        role = next((known for known in grants.ROLES if known == said), None)
        if role is None or not name or role in wanted:
            raise UsageError(f"--user {text!r} is not ROLE=NAME, each role once; roles: {', '.join(grants.ROLES)}")
        wanted[role] = name
    return grants.script(grants.statements(place.database, place.cluster, wanted))
