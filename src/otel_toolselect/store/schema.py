"""The schema that the migrations lead to, as a value: what a new store is made with, and what a cluster is made of.

A store that has nothing yet gets each table as it is after the last migration, by one statement. That is the same
schema as one change after the other gives, which a test holds against the engine, and a tenth of the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from otel_toolselect.errors import SchemaError
from otel_toolselect.store import ddl
from otel_toolselect.store.ddl import Alter, Change, Column, CreateTable, CreateView, DropView, Statement


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables and views by name, in the order in which they are made."""

    tables: Mapping[str, CreateTable] = field(default_factory=dict)
    views: Mapping[str, CreateView] = field(default_factory=dict)

    def after(self, statement: Statement, where: str) -> Schema:
        """The schema when the statement was carried out. `SchemaError` where it does not fit."""
        match statement:
            case CreateTable():
                known = self.tables.get(statement.table, statement)
                return replace(self, tables={**self.tables, statement.table: known})
            case CreateView():
                keep = "IF NOT EXISTS" in statement.before and statement.view in self.views
                return self if keep else replace(self, views={**self.views, statement.view: statement})
            case DropView():
                return replace(self, views={n: v for n, v in self.views.items() if n != statement.view})
            case Alter():
                table = self.tables.get(statement.table)
                if table is None:
                    raise SchemaError(where, statement.rest, f"a change of {statement.table}, which is no table yet")
                for change in statement.changes:
                    table = _changed(table, change, where)
                return replace(self, tables={**self.tables, statement.table: table})
            case _:
                return self


def numbered(name: str, statements: Iterable[str]) -> Iterable[tuple[str, str, Statement]]:
    """Each statement with where it stands, its text and what it says."""
    for number, text in enumerate(statements, 1):
        where = f"{name}.sql, statement {number}"
        yield where, text, ddl.read(text, where)


def create_table(table: CreateTable, name: str = "", on: str = "", engine: str = "") -> str:
    """The statement that makes a table; `name` and `engine`: others than its own, `on`: ON CLUSTER ..."""
    items = [*(column.text() for column in table.columns), *table.named.values()]
    tail = dict(table.tail) | ({"ENGINE": engine} if engine else {})
    lines = [f"{word} {'= ' if word == 'ENGINE' else ''}{text}" for word, text in tail.items()]
    listed = ",\n    ".join(items)
    return f"CREATE TABLE IF NOT EXISTS {name or table.table}{on}\n(\n    {listed}\n)\n" + "\n".join(lines)


def create_view(view: CreateView) -> str:
    to = f" TO {view.to}" if view.to else ""
    return f"{view.before} {view.view}{to} {view.body}"


def statements(schema: Schema) -> list[str]:
    """What makes the schema on one server where there is nothing yet."""
    return [*map(create_table, schema.tables.values()), *map(create_view, schema.views.values())]


def _changed(table: CreateTable, change: Change, where: str) -> CreateTable:
    match change.verb.split():
        case ["ADD", "COLUMN"]:
            return _with_column(table, change.text, where)
        case ["MODIFY", "COLUMN"]:
            (column,) = ddl.columns_of(change.text, where)
            old = next((c for c in table.columns if c.name == column.name), None)
            if old is None:
                raise SchemaError(where, change.text, f"no such column in {table.table}")
            new = Column(column.name, column.type, {**old.parts, **column.parts})
            return replace(table, columns=tuple(new if c is old else c for c in table.columns))
        case ["DROP", "COLUMN"]:
            gone = change.text.strip("`")
            return replace(table, columns=tuple(c for c in table.columns if c.name != gone))
        case ["ADD", "INDEX" | "PROJECTION" as kind]:
            name = change.text.split()[0]
            return replace(table, named={**table.named, name: table.named.get(name, f"{kind} {change.text}")})
        case ["DROP", "INDEX" | "PROJECTION"]:
            return replace(table, named={n: t for n, t in table.named.items() if n != change.text})
        case ["MODIFY", "SETTING"]:
            wanted = ddl.settings(table.tail.get("SETTINGS", "")) | ddl.settings(change.text)
            shown = ", ".join(f"{key} = {value}" for key, value in wanted.items())
            return replace(table, tail={**table.tail, "SETTINGS": shown})
        case ["MODIFY", "TTL"]:
            settings = table.tail.get("SETTINGS")
            tail = {**{w: t for w, t in table.tail.items() if w != "SETTINGS"}, "TTL": change.text}
            return replace(table, tail=tail | ({"SETTINGS": settings} if settings else {}))
        case ["REMOVE", "TTL"]:
            return replace(table, tail={w: t for w, t in table.tail.items() if w != "TTL"})
        case _:  # of the data alone
            return table


def _with_column(table: CreateTable, text: str, where: str) -> CreateTable:
    definition, _, after = text.partition(" AFTER ")
    (column,) = ddl.columns_of(definition, where)
    if any(c.name == column.name for c in table.columns):
        return table
    place = len(table.columns)
    if after:
        place = 1 + next((i for i, c in enumerate(table.columns) if c.name == after.strip("` ")), place - 1)
    return replace(table, columns=(*table.columns[:place], column, *table.columns[place:]))
