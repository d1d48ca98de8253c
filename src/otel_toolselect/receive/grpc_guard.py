"""Stands before every gRPC method: who calls, is there room, and only then the first byte of the message.

It takes each method for one with a stream of requests, which on the wire is the same: so that nothing of a message is
read for a stranger, and a message that does not come can be given up. Handlers are coroutines; `access.CALLER` tells
them who calls, and what they raise is answered by the one table of `status`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from google.protobuf import message

from otel_toolselect.errors import DecodeError
from otel_toolselect.otlp import replies
from otel_toolselect.receive.access import CALLER, Scope
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.gate import Gate, Visit
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.status import NotAllowedError, UnknownMethodError

OPEN = frozenset({"/grpc.health.v1.Health/Check"})
"""Methods that ask for no token: they say ok or not. Health/Watch is none of them, as it holds a stream for ever."""
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_CANCEL_S = 0.1
_MESSAGE_CHARS = 800
"""Of an error's text; it travels twice in the trailers, of which clients take 8 KiB."""
_Answer = Callable[[Any], Awaitable[Any]]


class Guard(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """`senders`: methods that the scope `send` opens; all others need `read`."""

    def __init__(self, intake: Intake, gate: Gate, counters: Counters, senders: frozenset[str]) -> None:
        self._intake = intake
        self._gate = gate
        self._counters = counters
        self._senders = senders

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        handler = await continuation(details)
        if details.method in OPEN:
            return handler
        scope: Scope = "send" if details.method in self._senders else "read"
        if handler is None:
            return grpc.stream_unary_rpc_method_handler(self._guarded(scope, self._unknown))
        if handler.response_streaming:
            make, answer = grpc.stream_stream_rpc_method_handler, self._many_answers(handler)
        else:
            make, answer = grpc.stream_unary_rpc_method_handler, self._one_answer(handler)
        return make(self._guarded(scope, answer), _parser(handler.request_deserializer), handler.response_serializer)

    def _guarded(self, scope: Scope, answer: _Answer) -> Callable[[Any, Any], Awaitable[Any]]:
        async def call(_: Any, context: Any) -> Any:
            try:
                access = self._intake.access
                sender = access.admit(_authorization(context), _certificate_names(context), scope)
                if scope == "send":
                    access.allow(sender)
                CALLER.set(sender)
                return await answer(context)
            except grpc.aio.BaseError:  # an answer of the handler's own
                raise
            except Exception as error:  # noqa: BLE001 - every error is answered by the one table
                await self._abort(context, error)

        return call

    def _one_answer(self, handler: Any) -> _Answer:
        async def answer(context: Any) -> Any:
            with self._gate.enter() as visit:
                if handler.request_streaming:
                    return await handler.stream_unary(_requests(context), context)
                return await handler.unary_unary(await self._message(visit, context), context)

        return answer

    def _many_answers(self, handler: Any) -> _Answer:
        """They may go on for ever: so they are counted by themselves and take no place from requests, and end with the
        token that they were asked for with.
        """

        async def answer(context: Any) -> None:
            if handler.request_streaming:
                given = _requests(context)
            else:
                with self._gate.enter() as visit:
                    given = await self._message(visit, context)
            async with self._gate.stream():
                made = (handler.stream_stream or handler.unary_stream)(given, context)
                if not hasattr(made, "__aiter__"):
                    await made
                    return
                async with contextlib.aclosing(made):  # at once, not when it is collected: it may hold a place
                    async for item in made:
                        self._check_again(context)
                        await context.write(item)

        return answer

    def _check_again(self, context: Any) -> None:
        """Raises NotAllowedError, ForbiddenError when whoever asked may not see an answer any more."""
        known = self._intake.access.admit(_authorization(context), _certificate_names(context), "read")
        if known.tenant != CALLER.get().tenant:
            raise NotAllowedError("the token stands for another tenant now: ask again", where="authorization")

    async def _message(self, visit: Visit, context: Any) -> Any:
        found = await visit.read(None, context.read, _size)
        if found is grpc.aio.EOF:
            await self._no_message()
        return found

    async def _no_message(self) -> None:
        """A message over the limit looks like none: grpc has answered, and cancels us in a moment."""
        try:
            await asyncio.sleep(_CANCEL_S)
        except asyncio.CancelledError:
            self._counters.refuse("too_large")
            raise
        raise DecodeError("the request holds no message", where="body")

    async def _unknown(self, _: Any) -> None:
        raise UnknownMethodError("not served here", where="method")

    async def _abort(self, context: Any, error: Exception) -> None:
        failure = self._intake.failure(error, "grpc")
        said = _clipped(failure.message)
        status = replies.encode_status(
            failure.grpc_code, said, "protobuf", retry_after_s=failure.retry_after_s, problems=failure.problems
        )  # the details travel as grpc's richer error model wants them (google.rpc.Status in a trailer)
        await context.abort(_CODES[failure.grpc_code], said, (("grpc-status-details-bin", status),))


def _clipped(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= _MESSAGE_CHARS else text[: _MESSAGE_CHARS - 3] + "..."


def _parser(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Bytes that are no message are the caller's mistake, not ours."""
    if deserialize is None:
        return None

    def parse(body: bytes) -> Any:
        try:
            return deserialize(body)
        except message.DecodeError:
            raise DecodeError("not a message of this method", where="body") from None

    return parse


async def _requests(context: Any) -> Any:
    while (found := await context.read()) is not grpc.aio.EOF:
        yield found


def _size(found: Any) -> int:
    if isinstance(found, bytes):
        return len(found)
    return int(found.ByteSize()) if hasattr(found, "ByteSize") else 0


def _authorization(context: Any) -> str | None:
    found = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
    return found[0] if found and isinstance(found[0], str) else None


def _certificate_names(context: Any) -> tuple[str, ...]:
    """Common name and alternative names of the certificate that the client showed, which grpc has verified."""
    facts = context.auth_context()
    found = (*facts.get("x509_common_name", ()), *facts.get("x509_subject_alternative_name", ()))
    return tuple(name.decode("utf-8", "replace") for name in found)
