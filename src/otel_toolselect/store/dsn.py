"""Where a store is: `chdb:///dir`, a plain directory, `clickhouse://user:password@host:port/db`, `clickhouses://`.

`?cluster=NAME` behind a server's address says that the database is on all servers of a cluster, `&quorum=N` how many
replicas must have an insert before it returns (see `cluster.Cluster`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from otel_toolselect.errors import UsageError
from otel_toolselect.store.cluster import Cluster

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
    cluster: Cluster | None = None

    @property
    def shown(self) -> str:
        scheme = "clickhouses" if self.secure else "clickhouse"
        of = f"?cluster={self.cluster.name}" if self.cluster else ""
        return f"{scheme}://{self.host}:{self.port}/{self.database}{of}"


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
    return Embedded(_real(path), _options(parts.query, "database").get("database", DEFAULT_DATABASE))


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
    options = _options(parts.query, "cluster", "quorum")
    if "quorum" in options and "cluster" not in options:
        raise UsageError("quorum= in --store is for a cluster; say which with cluster=NAME")
    return Remote(
        host=parts.hostname,
        port=port or (_HTTPS_PORT if secure else _HTTP_PORT),
        database=database or DEFAULT_DATABASE,
        secure=secure,
        user=unquote(parts.username or "") or "default",
        password=unquote(parts.password or ""),
        cluster=Cluster(options["cluster"], options.get("quorum", "")) if "cluster" in options else None,
    )


def _options(query: str, *known: str) -> dict[str, str]:
    """What stands behind the question mark; a name that says nothing here would be passed over silently."""
    given = parse_qs(query, keep_blank_values=True)
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise UsageError(
            f"{unknown[0]}= in --store says nothing here; known: {', '.join(f'{name}=' for name in known)}"
        )
    return {name: values[-1] for name, values in given.items()}


def _real(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))  # noqa: PTH111 - realpath of a path that need not exist yet
