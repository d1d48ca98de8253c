"""The schema as numbered .sql files, applied in order and once.

`toolselect_migrations` records what was applied, with a checksum. A file that was applied is never edited: a changed
checksum is an error, and so is a store that a newer version of the program has migrated. Every statement can be run
twice, so two processes that migrate at once, or one that is killed half-way, do no harm.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from otel_toolselect.errors import StoreError
from otel_toolselect.store import queries
from otel_toolselect.store.session import Session

_FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_ALTERED = re.compile(r"^ALTER TABLE (\w+)", re.MULTILINE)
_STATEMENT_END = re.compile(r";\s*$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*--.*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements without comments: each ends with a semicolon at the end of a line."""
        bare = _COMMENT.sub("", self.text)
        return tuple(part.strip() for part in _STATEMENT_END.split(bare) if part.strip())


def shipped() -> tuple[Migration, ...]:
    """The migrations of this version, in order of their numbers."""
    found = []
    for entry in resources.files("otel_toolselect.store").joinpath("sql").iterdir():
        named = _FILE_NAME.fullmatch(entry.name)
        if named:
            found.append(Migration(int(named[1]), named[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


def migrate(session: Session, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """Apply what is missing; returns what was applied. `StoreError`, not retryable, where history does not fit."""
    wanted = shipped() if migrations is None else migrations
    session.execute(queries.CREATE_MIGRATIONS)
    done = session.select(queries.APPLIED_MIGRATIONS)
    applied = dict(
        zip(done.get("Number", ()), zip(done.get("Name", ()), done.get("Checksum", ()), strict=True), strict=True)
    )
    _check_history(wanted, applied, session.where)
    missing = [migration for migration in wanted if migration.number not in applied]
    foreign = _foreign_tables(session)
    for migration in missing:
        for statement in migration.statements:
            changed = _ALTERED.search(statement)
            if changed is None or changed[1] not in foreign:
                session.execute(statement)
        _record(session, migration)
    return missing


def _foreign_tables(session: Session) -> list[str]:
    """Tables of ours in name only: a Collector made them, they are read as they are and never changed."""
    tables = queries.found_tables(session.select(queries.TABLE_COLUMNS), {})
    return [name for name in tables.columns if name in (queries.SPANS, queries.LOGS) and tables.foreign(name)]


def _check_history(wanted: Sequence[Migration], applied: dict[int, tuple[str, str]], where: str) -> None:
    known = {migration.number: migration for migration in wanted}
    for number, (name, checksum) in sorted(applied.items()):
        migration = known.get(number)
        if migration is None:
            raise StoreError(
                f"the store at {where} has migration {number:04}_{name}, which this version does not know; "
                "use the newer version that made it, or another store",
                retryable=False,
            )
        if migration.checksum != checksum:
            raise StoreError(
                f"migration {number:04}_{name} was applied to the store at {where} with another content "
                f"(checksum {checksum[:12]}, now {migration.checksum[:12]}); restore the file and add a new migration",
                retryable=False,
            )


def _record(session: Session, migration: Migration) -> None:
    from otel_toolselect.store import columns as c

    session.insert(
        "toolselect_migrations",
        {
            "Number": c.column([migration.number], c.UINT32),
            "Name": c.column([migration.name], c.TEXT),
            "Checksum": c.column([migration.checksum], c.TEXT),
        },
    )
