"""Where a store is: `chdb:///dir`, a plain directory, `clickhouse://user:password@host:port/db`, `clickhouses://`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from otel_toolselect.errors import UsageError

_FORMS = "chdb:///dir, clickhouse://user:password@host:port/db or clickhouses://..."
DEFAULT_DATABASE = "default"
_HTTP_PORT, _HTTPS_PORT = 8123, 8443


@dataclass(frozen=True, slots=True)
class Embedded:
    """An engine in this process. `path` is real and absolute, as chDB compares spellings literally."""

    path: str
    database: str

    @property
    def shown(self) -> str:
        return f"chdb://{self.path}"


@dataclass(frozen=True, slots=True)
class Remote:
    """A server's HTTP interface. `token`: a bearer token, used instead of user and password."""

    host: str
    port: int
    database: str
    secure: bool = False
    user: str = "default"
    password: str = field(default="", repr=False)
    token: str | None = field(default=None, repr=False)
    url_path: str = ""

    @property
    def shown(self) -> str:
        scheme = "clickhouses" if self.secure else "clickhouse"
        return f"{scheme}://{self.host}:{self.port}/{self.database}"


def parse(dsn: str) -> Embedded | Remote:
    """Read a DSN; `UsageError` says which forms there are.

    `?database=NAME` chooses another database than `default` in an embedded store.
    """
    scheme, separator, _ = dsn.partition("://")
    if not separator:
        if not dsn or "\0" in dsn:
            raise UsageError(f"an empty store name; give {_FORMS}")
        return Embedded(_real(dsn), DEFAULT_DATABASE)
    if scheme == "chdb":
        return _embedded(dsn)
    if scheme in ("clickhouse", "clickhouses"):
        return _remote(dsn, secure=scheme == "clickhouses")
    raise UsageError(f"unknown kind of store {scheme!r} in --store; give {_FORMS}")


def _embedded(dsn: str) -> Embedded:
    parts = urlsplit(dsn)
    path = unquote(parts.netloc + parts.path)
    if not path.strip("/"):
        raise UsageError(f"{dsn!r} names no directory; give chdb:///dir")
    database = parse_qs(parts.query).get("database", [DEFAULT_DATABASE])[0]
    return Embedded(_real(path), database)


def _remote(dsn: str, *, secure: bool) -> Remote:
    parts = urlsplit(dsn)
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError(f"the port in --store is not a number from 1 to 65535: {error}") from error
    if not parts.hostname:
        raise UsageError("the store's address names no host; give clickhouse://user:password@host:port/db")
    database = unquote(parts.path.strip("/"))
    if "/" in database:
        raise UsageError(f"{database!r} is not a database name; give clickhouse://user:password@host:port/db")
    return Remote(
        host=parts.hostname,
        port=port or (_HTTPS_PORT if secure else _HTTP_PORT),
        database=database or DEFAULT_DATABASE,
        secure=secure,
        user=unquote(parts.username or "") or "default",
        password=unquote(parts.password or ""),
    )


def _real(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))  # noqa: PTH111 - realpath of a path that need not exist yet
