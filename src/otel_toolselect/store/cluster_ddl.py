"""The schema on a cluster, made of the statements for one server: see `cluster` for what becomes of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from otel_toolselect.errors import SchemaError
from otel_toolselect.store import ddl, schema
from otel_toolselect.store.cluster import SHARDING, Cluster, local
from otel_toolselect.store.ddl import Alter, CreateTable, CreateView, DropView, Statement
from otel_toolselect.store.schema import Schema

_ENGINE = re.compile(r"(\w*MergeTree)(?:\((.*)\))?")
_SOURCE = re.compile(r"\bFROM\s+(\w+)")
_JOINED = re.compile(r"(?<!ARRAY )\bJOIN\b|\bFROM\s*\(|\bIN\s*\(\s*SELECT\b")
# {shard} and {replica} are macros that each server has, the others are known to every server
_PLACE = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"


@dataclass(frozen=True, slots=True)
class OnCluster:
    """Statements for all servers of a cluster, about one database."""

    cluster: Cluster
    database: str

    def create(self, wanted: Schema) -> list[str]:
        """What makes the schema where there is nothing yet."""
        made: list[str] = []
        for table in wanted.tables.values():
            made += self._table(table, f"the table {table.table}")
        for view in wanted.views.values():
            made += self._view(view, wanted, f"the view {view.view}")
        return made

    def rewritten(self, statement: Statement, text: str, after: Schema, where: str) -> list[str]:
        """What does the same as one statement of a migration. `after`: the schema when it was carried out."""
        on = self.cluster.on
        match statement:
            case CreateTable():
                return self._table(after.tables[statement.table], where)
            case CreateView():
                return self._view(statement, after, where)
            case DropView():
                plain, held = statement.view, local(statement.view)
                return [f"DROP TABLE IF EXISTS {plain}{on} SYNC", f"DROP VIEW IF EXISTS {held}{on} SYNC"]
            case Alter():
                changed = f"ALTER TABLE {local(statement.table)}{on} {statement.rest}"
                if not any(change.verb in ddl.SCHEMA_CHANGES for change in statement.changes):
                    return [changed]
                table = after.tables[statement.table]
                return [changed, self._distributed(table, "CREATE OR REPLACE TABLE", where)]
            case _:  # rows of ours from table to table: each goes to its shard by the key of the other table
                return [text]

    def _table(self, table: CreateTable, where: str) -> list[str]:
        found = _ENGINE.fullmatch(table.tail["ENGINE"])
        if found is None or found[1].startswith(("Replicated", "Shared")):
            raise SchemaError(where, table.tail["ENGINE"], "an engine that cannot be replicated")
        engine = f"Replicated{found[1]}({', '.join(part for part in (_PLACE, found[2]) if part)})"
        held = schema.create_table(table, local(table.table), self.cluster.on, engine)
        return [held, self._distributed(table, "CREATE TABLE IF NOT EXISTS", where)]

    def _distributed(self, table: CreateTable, create: str, where: str) -> str:
        key = _sharding(table, where)
        # defaults are filled in before a row finds its shard
        columns = ",\n    ".join(column.text("DEFAULT", "COMMENT") for column in table.columns)
        return f"{create} {table.table}{self.cluster.on}\n(\n    {columns}\n)\nENGINE = {self._over(table.table, key)}"

    def _over(self, table: str, key: str) -> str:
        return f"Distributed('{self.cluster.name}', {ddl.literal(self.database)}, '{local(table)}', {key})"

    def _view(self, view: CreateView, known: Schema, where: str) -> list[str]:
        """A view of what each shard holds; one that is read is then asked on all shards at once, by a table over it."""
        if _JOINED.search(view.body):
            raise SchemaError(where, view.body, "a view of more than one table")
        held = _SOURCE.sub(lambda found: f"FROM {local(_known(found[1], known, where))}", view.body)
        if view.to is not None:
            target = local(_known(view.to, known, where))
            return [schema.create_view(replace(view, view=view.view + self.cluster.on, to=target, body=held))]
        if view.view not in SHARDING:
            raise SchemaError(where, view.view, "a view without a sharding key; add it to SHARDING in store/cluster.py")
        name = local(view.view)
        again = "CREATE OR REPLACE TABLE" if "REPLACE" in view.before else "CREATE TABLE IF NOT EXISTS"
        over = self._over(view.view, SHARDING[view.view])
        return [
            schema.create_view(replace(view, view=name + self.cluster.on, body=held)),
            f"{again} {view.view}{self.cluster.on} AS {name}\nENGINE = {over}",
        ]


def _sharding(table: CreateTable, where: str) -> str:
    key = SHARDING.get(table.table)
    if key is None:
        raise SchemaError(where, table.table, "a table without a sharding key; add it to SHARDING in store/cluster.py")
    apart = set(ddl.names(key)) - set(ddl.names(table.tail["ORDER BY"]))
    if apart:
        raise SchemaError(where, key, f"a sharding key of {', '.join(sorted(apart))}, which ORDER BY does not name")
    return key


def _known(table: str, known: Schema, where: str) -> str:
    if table not in known.tables:
        raise SchemaError(where, table, "a view of what is no table of this schema")
    return table
