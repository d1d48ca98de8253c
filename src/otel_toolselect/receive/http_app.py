"""OTLP/HTTP as an ASGI application: /v1/traces, /v1/logs, and whatever is mounted beside them.

Source: OTLP specification, "OTLP/HTTP": binary and JSON protobuf, gzip (zstd besides), bounded before and
after inflating; errors are google.rpc.Status in the encoding of the request.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from otel_toolselect.errors import TooLargeError
from otel_toolselect.otlp import CODINGS, decompress, replies
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.replies import Encoding
from otel_toolselect.receive.http_probes import OPEN
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.settings import Settings
from otel_toolselect.receive.status import UnsupportedTypeError

_ENCODINGS: dict[str, Encoding] = {"application/x-protobuf": "protobuf", "application/json": "json"}
_TYPES = {encoding: name for name, encoding in _ENCODINGS.items()}


def make_app(
    intake: Intake,
    settings: Settings,
    *,
    extra_routes: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """The application. `extra_routes` share port and authentication; they come after the routes of OTLP."""
    routes: list[BaseRoute] = [
        Route("/v1/traces", _endpoint(intake, settings, "traces"), methods=["POST"]),
        Route("/v1/logs", _endpoint(intake, settings, "logs"), methods=["POST"]),
        *extra_routes,
    ]
    return _Guard(Starlette(routes=routes), intake)


class _Guard:
    """Asks for the token on every path but the health checks, which say nothing of value."""

    def __init__(self, app: ASGIApp, intake: Intake) -> None:
        self._app = app
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN:
            headers = Headers(scope=scope)
            scope.setdefault("state", {})
            try:
                scope["state"]["sender"] = self._intake.access.admit(headers.get("authorization"))
            except Exception as error:  # noqa: BLE001 - answered by the one table
                await _refusal(self._intake, error, _encoding_of(headers) or "json")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _endpoint(intake: Intake, settings: Settings, signal: Signal) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def export(http: HttpRequest) -> Response:
        encoding = _encoding_of(http.headers)
        try:
            if encoding is None:
                raise UnsupportedTypeError(f"must be one of {', '.join(_ENCODINGS)}", where="content-type")
            coding = _coding_of(http.headers)
            limit = settings.max_request_bytes
            body = decompress(await _body(http, limit), coding, limit)
            reply = await intake.accept(Request(signal, encoding, body), http.state.sender, "http")
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except Exception as error:  # noqa: BLE001 - answered by the one table
            return _refusal(intake, error, encoding or "json")
        return Response(reply, media_type=_TYPES[encoding])

    return export


def _encoding_of(headers: Headers) -> Encoding | None:
    return _ENCODINGS.get(headers.get("content-type", "").split(";")[0].strip().lower())


def _coding_of(headers: Headers) -> str:
    coding = headers.get("content-encoding", "").strip().lower() or "identity"
    if coding not in CODINGS:
        raise UnsupportedTypeError(f"must be one of {', '.join(CODINGS)}", where="content-encoding")
    return coding


async def _body(http: HttpRequest, limit: int) -> bytes:
    """The body, with or without a content-length; given up at the first byte over the limit."""
    claimed = http.headers.get("content-length", "")
    if claimed.isascii() and claimed.isdigit() and int(claimed[:20]) > limit:
        raise TooLargeError(f"more than the limit of {limit} bytes", where="body")
    pieces: list[bytes] = []
    size = 0
    async for piece in http.stream():
        size += len(piece)
        if size > limit:
            raise TooLargeError(f"more than the limit of {limit} bytes", where="body")
        pieces.append(piece)
    return b"".join(pieces)


def _refusal(intake: Intake, error: Exception, encoding: Encoding) -> Response:
    failure = intake.failure(error, "http")
    body = replies.encode_status(failure.grpc_code, failure.message, encoding, retry_after_s=failure.retry_after_s)
    headers = {}
    if failure.retry_after_s is not None:
        headers["retry-after"] = str(math.ceil(failure.retry_after_s))  # RFC 9110: whole seconds
    if failure.http_status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(body, failure.http_status, headers, media_type=_TYPES[encoding])
