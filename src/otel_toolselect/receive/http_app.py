"""OTLP/HTTP as an ASGI application: /v1/traces, /v1/logs, and whatever is mounted beside them.

Source: OTLP specification, "OTLP/HTTP": binary and JSON protobuf, gzip (zstd besides), bounded before and
after inflating; errors are google.rpc.Status in the encoding of the request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from otel_toolselect.errors import TooLargeError
from otel_toolselect.otlp import CODINGS
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.receive.gate import Gate, Visit
from otel_toolselect.receive.http_guard import ENCODINGS, TYPES, Guard, encoding_of, refusal
from otel_toolselect.receive.inflater import Inflater
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.settings import Settings
from otel_toolselect.receive.status import UnsupportedTypeError


def make_app(
    intake: Intake,
    settings: Settings,
    gate: Gate,
    *,
    extra_routes: Sequence[BaseRoute] = (),
    pages: ASGIApp | None = None,
) -> ASGIApp:
    """The application. `extra_routes` share port and authentication; they come after the routes of OTLP. `pages` shares
    the port only (see `Guard`).
    """
    inflater = Inflater(settings.max_request_bytes)
    routes: list[BaseRoute] = [
        Route("/v1/traces", _endpoint(intake, settings, inflater, "traces"), methods=["POST"]),
        Route("/v1/logs", _endpoint(intake, settings, inflater, "logs"), methods=["POST"]),
        *extra_routes,
    ]
    return Guard(Starlette(routes=routes), intake, gate, pages)


def _endpoint(
    intake: Intake, settings: Settings, inflater: Inflater, signal: Signal
) -> Callable[[HttpRequest], Awaitable[Response]]:
    limit = settings.max_request_bytes

    async def export(http: HttpRequest) -> Response:
        encoding = encoding_of(http.headers)
        try:
            if encoding is None:
                raise UnsupportedTypeError(f"must be one of {', '.join(ENCODINGS)}", where="content-type")
            coding = _coding_of(http.headers)
            visit: Visit = http.state.visit
            body = await visit.read(_claimed(http, limit), lambda: _body(http, limit), len)
            if coding != "identity":
                packed, body = body, b""
                body = await visit.inflate(lambda: inflater.inflate(packed, coding))
            reply = await intake.accept(Request(signal, encoding, body), http.state.sender, "http")
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except Exception as error:  # noqa: BLE001 - answered by the one table
            return refusal(intake, error, encoding or "json")
        return Response(reply, media_type=TYPES[encoding])

    return export


def _coding_of(headers: Headers) -> str:
    coding = headers.get("content-encoding", "").strip().lower() or "identity"
    if coding not in CODINGS:
        raise UnsupportedTypeError(f"must be one of {', '.join(CODINGS)}", where="content-encoding")
    return coding


def _claimed(http: HttpRequest, limit: int) -> int | None:
    """The size that the sender announces; None when it does not."""
    claimed = http.headers.get("content-length", "")
    if not claimed.isascii() or not claimed.isdigit():
        return None
    if int(claimed[:20]) > limit:
        raise TooLargeError(f"more than the limit of {limit} bytes", where="body")
    return int(claimed)


async def _body(http: HttpRequest, limit: int) -> bytes:
    """The body, with or without a content-length; given up at the first byte over the limit."""
    pieces: list[bytes] = []
    size = 0
    async for piece in http.stream():
        size += len(piece)
        if size > limit:
            raise TooLargeError(f"more than the limit of {limit} bytes", where="body")
        pieces.append(piece)
    return b"".join(pieces)
