"""uvicorn's HTTP/1.1 on h11, with bounds in time that it lacks: slow heads, clients that take no answer, and an answer
before the end of its body that the client still gets to see.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from otel_toolselect.config.sections import Limits
from otel_toolselect.receive.connections import Connections

CERTIFICATE = "certificate"
"""In the state of a scope: the names of the client's verified certificate, the common one first."""
_LINGER_S = 2.0
_QUIET = logging.getLogger("otel_toolselect.receive.http")
_QUIET.setLevel(logging.CRITICAL)  # what goes wrong is counted; a stranger must not be able to fill the log


class GuardedProtocol(H11Protocol):
    """One connection."""

    def __init__(self, config: Config, state: ServerState, limits: Limits, connections: Connections) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self.logger = _QUIET
        self._limits = limits
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._lingering = 0
        self._reading_head = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        real = cast(asyncio.Transport, transport)
        self.app_state = {CERTIFICATE: certificate_names(real)}
        # uvicorn closes at once, and what a client still sends would then take the answer away from it (RST)
        super().connection_made(cast(asyncio.Transport, _Closing(real, self._linger)))
        self._arm(self._limits.header_seconds, self._no_request)
        self._connections.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._disarm_writing()
        self._connections.leave(self)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            self._lingering += len(data)
            if self._lingering > self._limits.in_flight_bytes:
                self.abort()
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Follows whether a request is under way, and gives its head a limited time from the first byte."""
        if self.transport.is_closing() or self._lingering:
            return
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, whatever its type says
        if cycle is not None and not cycle.response_complete:
            self._reading_head = False
            self._disarm()
            self._connections.busy(self)
            return
        self._connections.idle(self)
        begun = bool(self.conn.trailing_data[0])
        if begun and not self._reading_head:
            self._unset_keepalive_if_required()
            self._arm(self._limits.header_seconds, self._slow_head)
        self._reading_head = begun

    def _arm(self, seconds: float, action: Any) -> None:
        self._disarm()
        self._timer = self.loop.call_later(seconds, action)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _no_request(self) -> None:
        self._connections.cut(self, "too_slow")

    def _slow_head(self) -> None:
        self._connections.leave(self)
        self._answer(408, "too_slow", "the head of the request did not come in time")

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn while it handles the error of h11, which knows better than 400."""
        hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
        self._answer(hint, "too_large" if hint == 431 else "other", msg)

    def _answer(self, status: int, reason: str, text: str) -> None:
        """Of what is no request; then the end."""
        self._connections.count(reason)
        body = text.encode()
        headers = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body)))]
        response = h11.Response(
            status_code=status, headers=[*headers, ("connection", "close")], reason=STATUS_PHRASES[status]
        )
        try:
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            pass  # in the middle of another answer: it ends with the connection
        self.transport.close()

    def _linger(self) -> bool:
        """Whether the end has to wait: the client still sends, and would not see the answer."""
        if self._lingering or self.conn.their_state is not h11.SEND_BODY:
            return False
        self._lingering = 1
        self._connections.idle(self)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._arm(_LINGER_S, self.abort)
        return True

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.body_seconds, self._no_reader)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._disarm_writing()

    def _disarm_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _no_reader(self) -> None:
        self._connections.cut(self, "too_slow")

    def shutdown(self) -> None:
        if self._lingering:
            self.abort()
        else:
            super().shutdown()

    def abort(self) -> None:
        self._disarm()
        if self.transport is not None:
            self.transport.abort()


class _Closing:
    """A transport whose end may be put off."""

    def __init__(self, transport: asyncio.Transport, put_off: Any) -> None:
        self._transport = transport
        self._put_off = put_off

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        if not self._put_off():
            self._transport.close()


def certificate_names(transport: asyncio.Transport) -> tuple[str, ...]:
    """Common name and alternative names of the certificate that a client showed and that was verified."""
    found = transport.get_extra_info("peercert") or {}
    common = [v for part in found.get("subject", ()) for k, v in part if k == "commonName"]
    return (*common, *(v for _, v in found.get("subjectAltName", ())))
