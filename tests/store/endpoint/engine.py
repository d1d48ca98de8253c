"""Statements on chDB as a server runs them: nothing that one of them sets is left for the next, but in a session."""

from __future__ import annotations

import json
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import chdb

_CODE = re.compile(r"Code:\s*(\d+)")
_INSERT_WITH_ROWS = re.compile(rb"(\s*INSERT\s.+?)(\sFORMAT\s+\w+)[ \t]*(?:\r?\n)?", re.IGNORECASE | re.DOTALL)
_RESULT = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(SELECT|WITH|SHOW|DESC|DESCRIBE|EXISTS|EXPLAIN|CHECK)\b", re.I | re.S
)
_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*\Z", re.IGNORECASE)
SESSION_NOT_FOUND, SESSION_IS_LOCKED = 372, 373


class EngineError(Exception):
    """An error as ClickHouse words it, with its number."""

    def __init__(self, text: str, code: int | None = None) -> None:
        found = _CODE.search(text)
        self.code = code if code is not None else int(found[1]) if found else 1002
        super().__init__(text if found else f"Code: {self.code}. DB::Exception: {text}")


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be run. `body` follows the text: more of the statement, or the rows of an insert."""

    text: bytes
    body: bytes = b""
    database: str | None = None
    default_format: str = "TabSeparated"
    params: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    readonly: int = 0
    session: str | None = None
    session_check: bool = False

    @property
    def sql(self) -> str:
        """The statement without the rows of an insert, for faults to choose by."""
        return self._parts[0].decode("utf-8", "replace")

    @property
    def gives_rows(self) -> bool:
        return _RESULT.match(self.sql) is not None

    @property
    def format(self) -> str:
        named = _FORMAT.search(self.sql[-200:])
        return named[1] if named else self.default_format

    @property
    def _parts(self) -> tuple[bytes, bytes | None]:
        whole = self.text + b"\n" + self.body if self.text and self.body else self.text or self.body
        found = _INSERT_WITH_ROWS.match(whole)
        return (whole, None) if found is None else (whole[: found.end(2)], whole[found.end() :])

    @property
    def rows(self) -> bytes | None:
        return self._parts[1]


@dataclass(frozen=True, slots=True)
class Result:
    body: bytes
    summary: str


class Engine:
    """An engine of this process, which somebody else holds open."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._sessions: dict[str, tuple[Any, threading.Lock]] = {}
        self._lock = threading.Lock()
        self.timezone = self.run(Statement(b"SELECT timezone()")).body.decode().strip()
        self.version = self.run(Statement(b"SELECT version()")).body.decode().strip()

    def close(self) -> None:
        for connection, _ in self._sessions.values():
            connection.close()
        self._sessions.clear()

    def run(self, statement: Statement) -> Result:
        """Run it; `EngineError` where the engine refuses."""
        with self._connection(statement) as connection:
            if statement.database:
                _query(connection, f"USE {_quoted(statement.database, '`')}")
            if statement.readonly:
                _query(connection, f"SET readonly = {statement.readonly}")
            for name, value in statement.settings.items():
                _query(connection, f"SET {name} = {_quoted(value)}")
            found = self._rows_in(connection, statement) if statement.rows else _run(connection, statement)
            written = 0 if statement.gives_rows else found.rows_read()
            summary = {
                "read_rows": str(found.storage_rows_read()),
                "read_bytes": str(found.storage_bytes_read()),
                "written_rows": str(written),
                "elapsed_ns": str(int(found.elapsed() * 1e9)),
            }
            return Result(found.bytes() or b"", json.dumps(summary))

    def _rows_in(self, connection: Any, statement: Statement) -> Any:
        """An insert, by way of a file: chDB ends a statement at a semicolon, and rows may hold one."""
        with tempfile.NamedTemporaryFile(suffix=".rows") as file:
            file.write(statement.rows or b"")
            file.flush()
            found = _INSERT_WITH_ROWS.match(statement.sql.encode() + b"\n")
            assert found is not None
            into, fmt = found[1].decode(), found[2].decode()
            return _query(connection, f"{into} FROM INFILE {_quoted(file.name)}{fmt}", "TabSeparated", statement.params)

    @contextmanager
    def _connection(self, statement: Statement) -> Iterator[Any]:
        if statement.session is None:
            connection = chdb.connect(self._path)
            try:
                yield connection
            finally:
                connection.close()
            return
        connection, held = self._session(statement.session, must_exist=statement.session_check)
        if not held.acquire(blocking=False):
            raise EngineError(
                f"Session {statement.session} is locked by a concurrent client. (SESSION_IS_LOCKED)", SESSION_IS_LOCKED
            )
        try:
            yield connection
        finally:
            held.release()

    def _session(self, name: str, *, must_exist: bool) -> tuple[Any, threading.Lock]:
        with self._lock:
            if name not in self._sessions:
                if must_exist:
                    raise EngineError(f"Session {name} not found. (SESSION_NOT_FOUND)", SESSION_NOT_FOUND)
                self._sessions[name] = chdb.connect(self._path), threading.Lock()
            return self._sessions[name]


def _run(connection: Any, statement: Statement) -> Any:
    if not statement.sql.strip():
        raise EngineError("Syntax error: Empty query. (SYNTAX_ERROR)", 62)
    return _query(connection, statement.sql, statement.default_format, statement.params)


def _query(connection: Any, sql: str, fmt: str = "TabSeparated", params: Mapping[str, str] | None = None) -> Any:
    try:
        return connection.query(sql, fmt, params=dict(params or {}))
    except RuntimeError as error:
        text = str(error)
        raise EngineError(text[max(text.find("Code:"), 0) :].strip()) from error


def _quoted(text: str, quote: str = "'") -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
