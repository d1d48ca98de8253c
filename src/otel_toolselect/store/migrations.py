"""The schema as numbered .sql files, applied in order and once.

`toolselect_migrations` records what was applied, with a checksum. A file that was applied is never edited: a changed
checksum is an error, and so is a store that a newer version of the program has migrated. Every statement can be run
twice, so two processes that migrate at once, or one that is killed half-way, do no harm.

A store in which nothing is yet is made as it is after the last file (`schema`), and so is a cluster.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from otel_toolselect.errors import StoreError
from otel_toolselect.store import queries, schema
from otel_toolselect.store.cluster import Cluster, local
from otel_toolselect.store.cluster_ddl import OnCluster
from otel_toolselect.store.ddl import Statement
from otel_toolselect.store.faults import denied
from otel_toolselect.store.queries import Tables
from otel_toolselect.store.schema import Schema
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
    def label(self) -> str:
        """`0001_spans`."""
        return f"{self.number:04}_{self.name}"

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements without comments: each ends with a semicolon at the end of a line."""
        bare = _COMMENT.sub("", self.text)
        return tuple(part.strip() for part in _STATEMENT_END.split(bare) if part.strip())

    def read(self) -> Iterable[tuple[str, str, Statement]]:
        """Where each statement stands, its text, and what it says; `SchemaError` for one that is not known."""
        return schema.numbered(self.label, self.statements)


def shipped() -> tuple[Migration, ...]:
    """The migrations of this version, in order of their numbers."""
    found = []
    for entry in resources.files("otel_toolselect.store").joinpath("sql").iterdir():
        named = _FILE_NAME.fullmatch(entry.name)
        if named:
            found.append(Migration(int(named[1]), named[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


@dataclass(frozen=True, slots=True)
class Step:
    """Statements, and the migrations that are recorded when they were carried out."""

    statements: tuple[str, ...]
    migrations: tuple[Migration, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is missing. `applied`: names of what was applied, by number."""

    steps: tuple[Step, ...]
    applied: Mapping[int, str]

    @property
    def missing(self) -> list[Migration]:
        return [migration for step in self.steps for migration in step.migrations]

    @property
    def statements(self) -> list[str]:
        return [statement for step in self.steps for statement in step.statements]


def plan(session: Session, migrations: Sequence[Migration] | None = None) -> Plan:
    """What `migrate` would do; changes nothing. `StoreError`, not retryable, where history does not fit."""
    wanted = shipped() if migrations is None else migrations
    tables = _tables(session)
    done = session.select(queries.APPLIED_MIGRATIONS) if tables.has("toolselect_migrations") else {}
    applied = dict(
        zip(done.get("Number", ()), zip(done.get("Name", ()), done.get("Checksum", ()), strict=True), strict=True)
    )
    _check_history(wanted, applied, session.where)
    names = {number: name for number, (name, _) in applied.items()}
    missing = [migration for migration in wanted if migration.number not in applied]
    if not missing:
        return Plan((), names)
    if not applied:
        final = schema_of(wanted)
        if _fits(final, tables, session):
            return Plan((Step(tuple(_made(final, session.database, session.cluster)), tuple(missing)),), names)
    own = [] if applied else _made(schema_of(()), session.database, session.cluster)
    steps = [Step(tuple(own), ())] if own else []
    return Plan((*steps, *_replayed(wanted, missing, tables, session)), names)


def from_nothing(database: str, cluster: Cluster | None) -> list[str]:
    """What makes a database that is not there yet, and all that is in it."""
    on = cluster.on if cluster else ""
    return [f"CREATE DATABASE IF NOT EXISTS `{database}`{on}", *_made(schema_of(shipped()), database, cluster)]


def migrate(session: Session, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """Apply what is missing; returns what was applied. `StoreError` as `plan`, and where the user may not do it."""
    planned = plan(session, migrations)
    for step in planned.steps:
        for statement in step.statements:
            execute(session, statement)
        if step.migrations:
            _record(session, step.migrations)
    return planned.missing


def schema_of(migrations: Sequence[Migration]) -> Schema:
    """The schema after these, with the table that records them."""
    found = Schema()
    for where, _, statement in schema.numbered("queries.CREATE_MIGRATIONS", [queries.CREATE_MIGRATIONS]):
        found = found.after(statement, where)
    for migration in migrations:
        for where, _, statement in migration.read():
            found = found.after(statement, where)
    return found


def _made(wanted: Schema, database: str, cluster: Cluster | None) -> list[str]:
    return schema.statements(wanted) if cluster is None else OnCluster(cluster, database).create(wanted)


def _fits(wanted: Schema, tables: Tables, session: Session) -> bool:
    """Whether all that is there is a Collector's, or as it should be in the end: made by one that was cut off."""
    for name, table in wanted.tables.items():
        held = name if session.cluster is None else local(name)
        if tables.has(held) and held not in _foreign(tables):
            columns = tables.columns[held]
            if set(columns) != {column.name for column in table.columns}:
                return False
    return True


def _replayed(
    wanted: Sequence[Migration], missing: Sequence[Migration], tables: Tables, session: Session
) -> Iterator[Step]:
    """File by file, for a store that holds something."""
    if session.cluster is None:
        for migration in missing:
            altered = [(text, _ALTERED.search(text)) for text in migration.statements]
            kept = [text for text, found in altered if found is None or found[1] not in _foreign(tables)]
            yield Step(tuple(kept), (migration,))
        return
    target = OnCluster(session.cluster, session.database)
    known = schema_of(())
    for migration in wanted:
        statements: list[str] = []
        for where, text, statement in migration.read():
            known = known.after(statement, where)
            statements += target.rewritten(statement, text, known, where)
        if migration in missing:
            yield Step(tuple(statements), (migration,))


def _tables(session: Session) -> Tables:
    tables = queries.found_tables(session.select(queries.TABLE_COLUMNS), session.select(queries.TABLE_ENGINES))
    foreign = _foreign(tables)
    if session.cluster is not None and foreign:
        raise StoreError(
            f"the table {foreign[0]} at {session.where} was made by a Collector; give toolselect a database of its own "
            "on the cluster",
            retryable=False,
        )
    return tables


def _foreign(tables: Tables) -> list[str]:
    """Tables of ours in name only: a Collector made them, they are read as they are and never changed."""
    return [name for name in (queries.SPANS, queries.LOGS) if tables.foreign(name)]


def execute(session: Session, statement: str, params: Mapping[str, Any] | None = None) -> None:
    """Change the schema; a `StoreError` for a user that may not says who may, and with which command."""
    try:
        session.execute(statement, params)
    except StoreError as error:
        if not denied(error):
            raise
        raise StoreError(
            f"the tables of the store at {session.where} are not as they should be, and this user may not change them: "
            f"run `toolselect store migrate --store DSN` as a user that may (`toolselect store grants`); {error}",
            retryable=False,
        ) from error


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


def _record(session: Session, migrations: Sequence[Migration]) -> None:
    from otel_toolselect.store import columns as c

    session.insert(
        "toolselect_migrations",
        {
            "Number": c.column([m.number for m in migrations], c.UINT32),
            "Name": c.column([m.name for m in migrations], c.TEXT),
            "Checksum": c.column([m.checksum for m in migrations], c.TEXT),
        },
    )
