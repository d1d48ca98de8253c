"""The embedded engine as such: raw statements in, bytes out, for the gateway (`web/gateway.py`)."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Mapping
from typing import Any

from otel_toolselect.errors import StoreError
from otel_toolselect.store.api import RawResult
from otel_toolselect.store.faults import error_code

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INSERT = re.compile(
    rb"(?P<into>\s*INSERT\s.+?)(?P<settings>\sSETTINGS\s.+?)?(?P<format>\sFORMAT\s+\w+)\s*", re.IGNORECASE | re.DOTALL
)


class ChdbEngine:
    """Implements `api.RawEngine` on a connection of its own to an engine that this process has open.

    chDB has no settings per statement from outside, so they are SET before and set back to DEFAULT after, under the
    lock; the connection's state is nobody else's.
    """

    def __init__(self, path: str) -> None:
        import chdb

        self._lock = threading.Lock()
        self._database = "default"
        self._connection: Any = chdb.connect(path)

    def raw_query(
        self,
        sql: bytes,
        *,
        data: bytes | None = None,
        params: Mapping[str, str],
        settings: Mapping[str, str],
        database: str | None,
        fmt: str,
    ) -> RawResult:
        with self._lock:
            if self._connection is None:
                raise StoreError("the embedded engine is closed", retryable=True)
            applied: list[str] = []
            try:
                self._use(database or "default")
                for name, value in settings.items():
                    self._run(f"SET {_setting(name)} = {_literal(value)}")
                    applied.append(name)
                result = self._run(sql, fmt, params) if data is None else self._insert(sql, data, params)
                return RawResult(
                    body=result.bytes() or b"",
                    rows_read=result.storage_rows_read(),
                    bytes_read=result.storage_bytes_read(),
                    elapsed_ns=int(result.elapsed() * 1e9),
                )
            finally:
                for name in applied:
                    self._run(f"SET {name} = DEFAULT")

    def timezone(self) -> str:
        result = self.raw_query(b"SELECT timezone()", params={}, settings={}, database=None, fmt="TabSeparated")
        return result.body.decode().strip()

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _use(self, database: str) -> None:
        if database != self._database:
            self._run(f"USE {_identifier(database)}")
            self._database = database

    def _insert(self, sql: bytes, data: bytes, params: Mapping[str, str]) -> Any:
        found = _INSERT.fullmatch(sql)
        if found is None:
            raise StoreError(
                "Code: 62. DB::Exception: Syntax error: data can only follow INSERT ... FORMAT name. (SYNTAX_ERROR)",
                retryable=False,
            )
        # by way of a file: chDB cuts data that stands in the statement at the first byte 0x3b, a semicolon
        with tempfile.NamedTemporaryFile(prefix="toolselect-", suffix=".rows") as file:
            file.write(data)
            file.flush()
            source = b" FROM INFILE " + _literal(file.name).encode()
            statement = found["into"] + source + (found["settings"] or b"") + found["format"]
            return self._run(statement, "TabSeparated", params)

    def _run(self, sql: str | bytes, fmt: str = "TabSeparated", params: Mapping[str, str] | None = None) -> Any:
        try:
            return self._connection.query(sql, fmt, params=dict(params or {}))
        except RuntimeError as error:
            text = str(error)
            raise StoreError(text[max(text.find("Code:"), 0) :].strip(), retryable=error_code(error) is None) from error


def _setting(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise StoreError(
            f"Code: 115. DB::Exception: no setting can be named {name!r}. (UNKNOWN_SETTING)", retryable=False
        )
    return name


def _literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _identifier(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
