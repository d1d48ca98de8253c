"""What a request asks for, as ClickHouse's handler reads it, and whether the one who asks may."""

from __future__ import annotations

import base64
import binascii
import email
import email.policy
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import lz4.frame
import zstandard

from .engine import EngineError, Statement

# taken by the handler itself; every other name that is no `param_...` is a setting
_TRANSPORT = ("query", "database", "default_format", "compress", "decompress", "buffer_size", "wait_end_of_query")
_IDENTITY = ("user", "password", "quota_key", "query_id", "role", "stacktrace", "client_protocol_version")
_SESSION = ("session_id", "session_timeout", "session_check", "close_session")
_RESERVED = frozenset(_TRANSPORT + _IDENTITY + _SESSION)
REQUIRED_PASSWORD, AUTHENTICATION_FAILED = 194, 516


@dataclass(frozen=True, slots=True)
class User:
    """`readonly` as ClickHouse has it: 0 writes, 1 reads, 2 reads and may change settings."""

    name: str = "default"
    password: str = ""
    readonly: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    statement: Statement
    query: Mapping[str, str]
    """The parameters of the address."""
    accepts: str
    """Content codings that the client can read, if it may have any."""

    def flag(self, name: str) -> bool:
        return self.query.get(name) == "1"


def read(method: str, target: str, headers: Mapping[str, str], body: bytes, users: Mapping[str, User]) -> Asked:
    """The statement of a request. `EngineError`: refused, as a server would."""
    query = dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))
    user = authenticated(headers, query, users)
    body = decoded(body, headers.get("Content-Encoding", ""))
    given = dict(query)
    if headers.get("Content-Type", "").startswith("multipart/form-data"):
        given |= form(headers["Content-Type"], body)
        body = b""
    settings = {k: v for k, v in given.items() if k not in _RESERVED and not k.startswith("param_")}
    coding_wanted = settings.get("enable_http_compression", "1") == "1"
    statement = Statement(
        text=given.get("query", "").encode(),
        body=body,
        database=headers.get("X-ClickHouse-Database") or given.get("database"),
        default_format=headers.get("X-ClickHouse-Format") or given.get("default_format") or "TabSeparated",
        params={k.removeprefix("param_"): v for k, v in given.items() if k.startswith("param_")},
        settings=settings,
        readonly=user.readonly or (0 if method == "POST" else 2),
        session=given.get("session_id"),
        session_check=given.get("session_check") == "1",
    )
    return Asked(statement, query, headers.get("Accept-Encoding", "") if coding_wanted else "")


def authenticated(headers: Mapping[str, str], query: Mapping[str, str], users: Mapping[str, User]) -> User:
    """The user of a request; the ways to name one are basic authentication, two headers, and the address."""
    ways = [way for way in (_basic(headers), _by_headers(headers), _by_address(query)) if way is not None]
    if len(ways) > 1:
        raise EngineError("Invalid authentication: it is not allowed to use several methods", AUTHENTICATION_FAILED)
    name, password = ways[0] if ways else ("default", "")
    user = users.get(name)
    if user is None or user.password != password:
        raise EngineError(
            f"{name}: Authentication failed: password is incorrect, or there is no user with such name. "
            "(AUTHENTICATION_FAILED)",
            AUTHENTICATION_FAILED if ways else REQUIRED_PASSWORD,
        )
    return user


def _basic(headers: Mapping[str, str]) -> tuple[str, str] | None:
    scheme, _, value = headers.get("Authorization", "").partition(" ")
    if not scheme:
        return None
    try:
        name, _, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise EngineError("Invalid authentication", AUTHENTICATION_FAILED) from error
    return (name, password) if scheme.lower() == "basic" else None


def _by_headers(headers: Mapping[str, str]) -> tuple[str, str] | None:
    if "X-ClickHouse-User" in headers or "X-ClickHouse-Key" in headers:
        return headers.get("X-ClickHouse-User", "default"), headers.get("X-ClickHouse-Key", "")
    return None


def _by_address(query: Mapping[str, str]) -> tuple[str, str] | None:
    return (query.get("user", "default"), query.get("password", "")) if query.keys() & {"user", "password"} else None


def form(content_type: str, body: bytes) -> dict[str, str]:
    """The text fields of a multipart form, in which clients send parameters that are too long for an address."""
    head = b"Content-Type: " + content_type.encode("latin-1") + b"\r\n\r\n"
    message = email.message_from_bytes(head + body, policy=email.policy.HTTP)
    fields = {}
    for part in message.iter_parts():  # type: ignore[attr-defined]
        name, content = part.get_param("name", header="Content-Disposition"), part.get_payload(decode=True)
        fields[name] = content.decode("utf-8", "surrogateescape")
    return fields


def decoded(body: bytes, coding: str) -> bytes:
    match coding:
        case "" | "identity":
            return body
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(body)
        case "lz4":
            return lz4.frame.decompress(body)
        case "gzip":
            return gzip.decompress(body)
        case "deflate":
            return zlib.decompress(body)
    raise EngineError(f"Unknown compression method {coding!r}. (UNKNOWN_COMPRESSION_METHOD)", 89)


def encoded(body: bytes, coding: str | None) -> bytes:
    match coding:
        case "zstd":
            return zstandard.ZstdCompressor(3).compress(body)
        case "lz4":
            return lz4.frame.compress(body)
        case "gzip":
            return gzip.compress(body, 3)
        case "deflate":
            return zlib.compress(body, 3)
    return body


def begun(body: bytes, coding: str | None) -> bytes:
    """The beginning of a coded body: all of these bytes can be read from it, and it has no end yet."""
    match coding:
        case "zstd":
            running = zstandard.ZstdCompressor(3).compressobj()
            return running.compress(body) + running.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        case "lz4":
            frame = lz4.frame.LZ4FrameCompressor(auto_flush=True)
            return bytes(frame.begin() + frame.compress(body))
        case "gzip" | "deflate":
            deflate = zlib.compressobj(3, wbits=31 if coding == "gzip" else 15)
            return deflate.compress(body) + deflate.flush(zlib.Z_SYNC_FLUSH)
    return body


def chosen(accepts: str) -> str | None:
    """The coding of an answer, in ClickHouse's order of preference."""
    return next((coding for coding in ("zstd", "lz4", "gzip", "deflate") if coding in accepts), None)
