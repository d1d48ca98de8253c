"""The embedded store, lent to other processes: enough of ClickHouse's HTTP interface for its clients.

While `serve` holds the store (chDB: one process per directory) every other command reaches the same data through
this app (design section 8), with the client that it uses for a ClickHouse server. Each statement goes to the real
engine, one at a time. Only loopback peers that know the token are served: whoever does may read and write everything.

Spoken: POST and GET with the statement in `?query=`, the body, or a form; `param_*`; settings; `database`;
`default_format`; bodies in any format after an INSERT; content codings; `X-ClickHouse-*` headers; errors as ClickHouse
gives them. Not spoken: sessions, external tables, native compression (`?compress=1`), progress headers.
"""

from __future__ import annotations

import email
import email.policy
import hmac
import ipaddress
import json
import re
import secrets
import uuid
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from otel_toolselect.errors import DecodeError, StoreError, TooLargeError
from otel_toolselect.store import RawEngine, RawResult
from otel_toolselect.web import _codings

MAX_BODY_BYTES = 2**30

# consumed by the transport, or without a meaning for an engine in this process
_TRANSPORT_PARAMS = frozenset(
    {
        "query",
        "database",
        "default_format",
        "user",
        "password",
        "quota_key",
        "session_id",
        "session_timeout",
        "session_check",
        "query_id",
        "role",
        "buffer_size",
        "wait_end_of_query",
        "compress",
        "decompress",
        "client_protocol_version",
        "enable_http_compression",
        "send_progress_in_http_headers",
        "http_headers_progress_interval_ms",
        "cancel_http_readonly_queries_on_client_close",
        "http_zlib_compression_level",
    }
)
_COMMENTS = re.compile(rb"\A(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/|\()*", re.DOTALL)
_FIRST_WORD = re.compile(rb"[A-Za-z]+")
_WITH_RESULT = frozenset(
    {b"SELECT", b"WITH", b"SHOW", b"DESCRIBE", b"DESC", b"EXISTS", b"EXPLAIN", b"CHECK", b"VALUES"}
)
_TRAILING_FORMAT = re.compile(rb"\bFORMAT\s+(\w+)\s*;?\s*\Z", re.IGNORECASE)
_INSERT_WITH_FORMAT = re.compile(rb"\s*INSERT\s.+?\sFORMAT\s+\w+\s*", re.IGNORECASE | re.DOTALL)
_INSERT_THEN_ROWS = re.compile(rb"\s*INSERT\s[^;]+?\sFORMAT\s+\w+[ \t]*\r?\n", re.IGNORECASE)
_ERROR_CODE = re.compile(r"Code:\s*(\d+)")

_AUTHENTICATION_FAILED, _TOO_LARGE = 516, 131
_STATUS_OF_CODE = {
    **dict.fromkeys((36, 47, 62, 69, 70, 115, 117, 457), 400),
    **dict.fromkeys((16, 46, 60, 81), 404),
    **dict.fromkeys((164, 497, _AUTHENTICATION_FAILED), 403),
    159: 408,
    202: 429,
}


class _Refused(Exception):
    """An answer with an error, in ClickHouse's form."""

    def __init__(self, status: int, code: int, text: str) -> None:
        super().__init__(text)
        self.status, self.code = status, code
        self.text = text if text.startswith("Code:") else f"Code: {code}. DB::Exception: {text}"


@dataclass(frozen=True, slots=True)
class _Statement:
    sql: bytes
    data: bytes | None
    database: str | None
    fmt: str
    params: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def has_result(self) -> bool:
        start = _COMMENTS.match(self.sql)
        word = _FIRST_WORD.match(self.sql, start.end() if start else 0)
        return word is not None and word[0].upper() in _WITH_RESULT

    @property
    def result_format(self) -> str:
        named = _TRAILING_FORMAT.search(self.sql[-200:])
        return named[1].decode() if named else self.fmt


def new_token() -> str:
    """A secret for `gateway_app`, to be written into the serve info file."""
    return secrets.token_urlsafe(32)


def gateway_app(engine: RawEngine, token: str, *, max_body_bytes: int = MAX_BODY_BYTES) -> Starlette:
    """The app; it may be mounted below a path. `token` is asked for as a bearer token or as anybody's password.

    The app does not close the engine. Raises `ValueError` for an empty token: there is no gateway without one.
    """
    if not token:
        raise ValueError("a gateway needs a token")
    zone = engine.timezone()

    async def ping(request: Request) -> Response:
        return PlainTextResponse("Ok.\n")

    async def statement(request: Request) -> Response:
        query_id = request.query_params.get("query_id") or str(uuid.uuid4())
        headers = {"X-ClickHouse-Query-Id": query_id, "X-ClickHouse-Timezone": zone}
        try:
            _check_peer(request, token)
            asked = await _read(request, max_body_bytes)
            if request.method == "GET" and not asked.has_result:
                raise _Refused(403, 164, "Cannot execute query in readonly mode: send it with POST. (READONLY)")
            result = await run_in_threadpool(_run, engine, asked)
        except _Refused as refused:
            headers["X-ClickHouse-Exception-Code"] = str(refused.code)
            return PlainTextResponse(refused.text + "\n", refused.status, headers)
        return _answer(request, asked, result, headers)

    return Starlette(
        routes=[
            Route("/ping", ping, methods=["GET"]),
            Route("/", statement, methods=["GET", "POST"]),
        ]
    )


def _check_peer(request: Request, token: str) -> None:
    host = request.client.host if request.client else ""
    try:
        near = ipaddress.ip_address(host).is_loopback
    except ValueError:
        near = False
    if not near:
        raise _Refused(403, _AUTHENTICATION_FAILED, "only this machine is served. (AUTHENTICATION_FAILED)")
    given = _password(request)
    if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        raise _Refused(403, _AUTHENTICATION_FAILED, "the token is wrong or missing. (AUTHENTICATION_FAILED)")


def _password(request: Request) -> str:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return b64decode(value, validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return request.headers.get("X-ClickHouse-Key") or request.query_params.get("password", "")


async def _read(request: Request, max_bytes: int) -> _Statement:
    """The statement of a request: its text, parameters and settings."""
    given = dict(request.query_params)
    body = await _body(request, max_bytes)
    if request.headers.get("Content-Type", "").startswith("multipart/form-data"):
        given |= _form(request.headers["Content-Type"], body)
        body = b""
    sql, data = _split(given.get("query", "").encode(), body)
    if not sql.strip():
        raise _Refused(400, 62, "Syntax error: Empty query. (SYNTAX_ERROR)")
    return _Statement(
        sql=sql,
        data=data,
        database=given.get("database") or request.headers.get("X-ClickHouse-Database"),
        fmt=request.headers.get("X-ClickHouse-Format") or given.get("default_format") or "TabSeparated",
        params={name[len("param_") :]: value for name, value in given.items() if name.startswith("param_")},
        settings={
            name: value
            for name, value in given.items()
            if name not in _TRANSPORT_PARAMS and not name.startswith("param_")
        },
    )


def _split(query: bytes, body: bytes) -> tuple[bytes, bytes | None]:
    """Statement and rows: the query parameter goes before the body, and rows begin after the line of FORMAT."""
    if query and _INSERT_WITH_FORMAT.fullmatch(query):
        return query, body or None
    sql = query + b"\n" + body if query and body else query or body
    found = _INSERT_THEN_ROWS.match(sql)
    if found is None or found.end() == len(sql):
        return sql, None
    return found[0], sql[found.end() :]


async def _body(request: Request, max_bytes: int) -> bytes:
    held = bytearray()
    async for chunk in request.stream():
        held += chunk
        if len(held) > max_bytes:
            raise _Refused(413, _TOO_LARGE, f"the body is over {max_bytes} bytes. (TOO_LARGE_STRING_SIZE)")
    try:
        return _codings.decompress(bytes(held), request.headers.get("Content-Encoding", "").lower(), max_bytes)
    except TooLargeError as error:
        raise _Refused(413, _TOO_LARGE, f"{error}. (TOO_LARGE_STRING_SIZE)") from error
    except DecodeError as error:
        raise _Refused(400, 432, f"{error}. (UNKNOWN_COMPRESSION_METHOD)") from error


def _form(content_type: str, body: bytes) -> dict[str, str]:
    """The text fields of a multipart form: clients send one when parameters are too long for an address."""
    message = email.message_from_bytes(
        b"Content-Type: " + content_type.encode("latin-1") + b"\r\n\r\n" + body, policy=email.policy.HTTP
    )
    fields = {}
    for part in message.iter_parts() if message.is_multipart() else ():
        name, content = part.get_param("name", header="Content-Disposition"), part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            fields[name] = content.decode("utf-8", "surrogateescape")
    return fields


def _run(engine: RawEngine, asked: _Statement) -> RawResult:
    try:
        return engine.raw_query(
            asked.sql,
            data=asked.data,
            params=asked.params,
            settings=asked.settings,
            database=asked.database,
            fmt=asked.fmt,
        )
    except StoreError as error:
        found = _ERROR_CODE.search(str(error))
        code = int(found[1]) if found else 1002  # UNKNOWN_EXCEPTION
        status = _STATUS_OF_CODE.get(code, 503 if not found else 500)
        raise _Refused(status, code, str(error)) from error


def _answer(request: Request, asked: _Statement, result: RawResult, headers: Mapping[str, str]) -> Response:
    summary = {
        "read_rows": str(result.rows_read),
        "read_bytes": str(result.bytes_read),
        "elapsed_ns": str(result.elapsed_ns),
    }
    if not asked.has_result:  # an insert reads exactly what it writes
        summary |= {"written_rows": summary["read_rows"], "written_bytes": summary["read_bytes"]}
    answer = {**headers, "X-ClickHouse-Summary": json.dumps(summary)}
    if asked.has_result:
        answer["X-ClickHouse-Format"] = asked.result_format
    body = result.body
    if request.query_params.get("enable_http_compression") == "1":
        coding = _codings.choose(request.headers.get("Accept-Encoding", ""))
        if coding is not None and body:
            body = _codings.compress(body, coding)
            answer["Content-Encoding"] = coding
    return Response(body, headers=answer, media_type="application/octet-stream")
