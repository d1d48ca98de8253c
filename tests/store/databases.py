"""Databases of an engine that have the schema in place, emptied between tests.

To make one takes ten migrations, half a second of processor time; to empty one takes a tenth of that, and the contract
has its hundred tests three times over. A test that has changed a table has its database thrown away.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import chdb

from otel_toolselect.store import open_store

_TABLES = "SELECT name, engine, total_rows, create_table_query FROM system.tables WHERE database = {name:String}"
_PARTS = "SELECT count() FROM system.parts WHERE database = {name:String} AND active"
_HISTORY = "toolselect_migrations"
_MANY = 40
"""Parts from which on a database is thrown away: that goes on in the background, emptying does not."""


class Databases:
    """Of one engine, which is held open meanwhile, so that opening a store in it is cheap."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._names = itertools.count()
        self._free: list[str] = []
        self._schemas: dict[str, dict[str, str]] = {}
        self._holder = open_store(f"chdb://{home}", create=False)
        self._connection = chdb.connect(str(home))

    def close(self) -> None:
        self._connection.close()
        self._holder.close()

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The name of a database that is migrated and empty."""
        name = self._free.pop() if self._free else self._made()
        yield name
        if self._emptied(name):
            self._free.append(name)
        else:
            self._connection.query(f"DROP DATABASE {name}")

    def _made(self) -> str:
        name = f"made{next(self._names)}"
        open_store(f"chdb://{self._home}?database={name}").close()
        self._schemas[name] = {table: text for table, _, _, text in self._tables(name)}
        return name

    def _emptied(self, name: str) -> bool:
        tables = self._tables(name)
        if {table: text for table, _, _, text in tables} != self._schemas[name]:
            return False
        if int(self._connection.query(_PARTS, "TabSeparated", params={"name": name}).bytes()) > _MANY:
            return False
        for table, engine, rows, _ in tables:
            if rows and not engine.endswith("View") and table != _HISTORY:
                self._connection.query(f"TRUNCATE TABLE {name}.`{table}`")
        return True

    def _tables(self, name: str) -> list[tuple[str, str, int, str]]:
        found = self._connection.query(_TABLES, "JSONCompactEachRow", params={"name": name}).bytes()
        return [(t, engine, int(rows or 0), text) for t, engine, rows, text in map(json.loads, found.splitlines())]
