"""Stands before every path of the HTTP port: who calls, is there room, and an answer for whatever goes wrong."""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from otel_toolselect.otlp import replies
from otel_toolselect.otlp.replies import Encoding
from otel_toolselect.receive.gate import Gate
from otel_toolselect.receive.http_probes import OPEN, PROBES
from otel_toolselect.receive.http_protocol import CERTIFICATE
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.status import LargeHeadError

ENCODINGS: dict[str, Encoding] = {"application/x-protobuf": "protobuf", "application/json": "json"}
TYPES = {encoding: name for name, encoding in ENCODINGS.items()}
_SEND = "/v1/"
"""Paths that the scope `send` opens; all others need `read`."""


class Guard:
    """The application behind it finds `sender` and `visit` in the state of its requests.

    `pages` answers every path that is neither OTLP nor a probe, and asks who calls by itself: people have sessions. It
    takes none of the places that senders have.
    """

    def __init__(self, app: ASGIApp, intake: Intake, gate: Gate, pages: ASGIApp | None = None) -> None:
        self._app = app
        self._pages = pages
        self._intake = intake
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        try:
            if scope["path"] in OPEN and scope["method"] in ("GET", "HEAD"):
                await self._app(scope, exchange.receive, exchange.send)
            elif self._pages is not None and not _is_ours(scope["path"]):
                self._check_head(scope)
                await self._pages(scope, exchange.receive, exchange.send)
            else:
                await self._admitted(scope, exchange)
        except Exception as error:  # noqa: BLE001 - answered by the one table; uvicorn would log it with its content
            answer = refusal(self._intake, error, encoding_of(Headers(scope=scope)) or "json")
            if not exchange.answered:
                await answer(scope, exchange.receive, exchange.send)

    async def _admitted(self, scope: Scope, exchange: _Exchange) -> None:
        self._check_head(scope)
        state = scope.setdefault("state", {})
        access = self._intake.access
        sending = scope["path"].startswith(_SEND)
        authorization = Headers(scope=scope).get("authorization")
        sender = access.admit(authorization, state.get(CERTIFICATE, ()), "send" if sending else "read")
        if sending:
            access.allow(sender)
        with self._gate.enter() as visit:
            state |= {"sender": sender, "visit": visit}
            await self._app(scope, exchange.receive, exchange.send)

    def _check_head(self, scope: Scope) -> None:
        if _head_bytes(scope) > self._gate.limits.header_bytes:  # h11 looks only at heads that come in pieces
            raise LargeHeadError(f"more than the limit of {self._gate.limits.header_bytes} bytes", where="head")


def _is_ours(path: str) -> bool:
    return path.startswith(_SEND) or path in PROBES


def _head_bytes(scope: Scope) -> int:
    lines = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return lines + len(scope.get("raw_path", b"")) + len(scope["query_string"])


class _Exchange:
    """One request and its answer. An answer before the end of the body says that it is the last of its connection."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._more = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        self._receive = receive
        self._send = send
        self.answered = False

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._more = self._more and bool(message.get("more_body"))
        return message

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.answered = True
            if self._more:
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        await self._send(message)


def encoding_of(headers: Headers) -> Encoding | None:
    return ENCODINGS.get(headers.get("content-type", "").split(";")[0].strip().lower())


def refusal(intake: Intake, error: Exception, encoding: Encoding) -> Response:
    """The answer to an error, counted."""
    failure = intake.failure(error, "http")
    body = replies.encode_status(failure.grpc_code, failure.message, encoding, retry_after_s=failure.retry_after_s)
    headers = {}
    if failure.retry_after_s is not None:
        headers["retry-after"] = str(math.ceil(failure.retry_after_s))  # RFC 9110: whole seconds
    if failure.http_status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(body, failure.http_status, headers, media_type=TYPES[encoding])
