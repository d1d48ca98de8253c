"""One request, whichever port it came in by: through the door, into the spool, answered. Runs on the event loop:
several Python threads walking messages only take turns, at a third more CPU.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import Counter
from collections.abc import Sequence

from otel_toolselect.errors import InputError, TooLargeError
from otel_toolselect.model.runs import TENANT
from otel_toolselect.otlp import replies
from otel_toolselect.receive.access import Access, Sender
from otel_toolselect.receive.counters import Counters, Protocol
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.door import Admitted, Door
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.spool import Pending, Spool
from otel_toolselect.receive.status import Failure, failure_of
from otel_toolselect.telemetry import tracing

log = logging.getLogger(__name__)


class Intake:
    """Made on the loop that serves; `told` is called by the spool's writer thread."""

    def __init__(self, access: Access, door: Door, spool: Spool, dead: DeadLetters, counters: Counters) -> None:
        self.access = access
        self._door = door
        self._spool = spool
        self._dead = dead
        self._counters = counters
        self._loop = asyncio.get_running_loop()

    async def accept(self, request: Request, sender: Sender, protocol: Protocol) -> bytes:
        """The body of a success answer, once what was kept is on disk.

        Raises what `status.failure_of` maps.
        """
        began = time.perf_counter()
        self._counters.add(requests=1)
        with tracing.span("ingest", protocol=protocol, signal=request.signal, body_bytes=len(request.body)) as add:
            admitted = await self._keep(request, sender)
            add("spans", admitted.spans)
            add("logs", admitted.logs)
        self._counters.add(
            spans=admitted.spans,
            logs=admitted.logs,
            warnings=len(admitted.notes.warnings),
        )
        left_out = (*admitted.notes.rejected_spans, *admitted.notes.rejected_logs)
        for kind, n in Counter(r.kind for r in left_out).items():
            self._counters.reject(kind, n)
        for what, n in admitted.alterations.items():
            self._counters.alter(what, n)
        self._counters.answer(protocol, "accepted")
        self._counters.ack_s.observe(time.perf_counter() - began)
        return replies.encode_success(request.signal, request.encoding, admitted.notes)

    async def _keep(self, request: Request, sender: Sender) -> Admitted:
        """Lets a request in and waits until it is durable."""
        self.access.charge(sender, size=len(request.body))
        try:
            admitted = self._door.admit(request, sender)
        except TooLargeError:
            raise
        except InputError as error:
            await asyncio.to_thread(self._keep_refused, request, str(error), sender.attributes.get(TENANT, ""))
            raise
        if admitted.spans or admitted.logs:
            written = self._loop.create_future()
            self._spool.submit(Pending(admitted.request, admitted.spans + admitted.logs, written))
            await written
        self.access.charge(sender, spans=admitted.spans + admitted.logs)
        return admitted

    def _keep_refused(self, request: Request, reason: str, tenant: str) -> None:
        """A body that cannot be read cannot be redacted either: then only its size and digest are kept."""
        digest = self._door.fingerprint(request)
        if digest is None:
            self._dead.keep(request, reason, acknowledged=False, tenant=tenant)
        else:
            self._dead.keep_digest(request, reason, digest)

    def told(self, pending: Sequence[Pending], error: Exception | None) -> None:
        """Wakes the senders of one group commit with one call into the loop."""
        try:
            self._loop.call_soon_threadsafe(_resolve, pending, error)
        except RuntimeError:  # the loop is gone: so are the senders, and their spans are safe
            log.debug("the loop ended before %d requests were answered", len(pending))

    def failure(self, error: Exception, protocol: Protocol) -> Failure:
        """The answer to an error, counted; a log line only for errors that are ours, and never with
        content.
        """
        failure = failure_of(error)
        self._counters.refuse(failure.reason)
        if failure.http_status == 500:
            self._counters.add(failed=1)
            self._counters.answer(protocol, "failed")
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.error("%s at %s:%s", type(error).__name__, place.filename, place.lineno)
        elif failure.retry_after_s is not None:
            self._counters.add(overloaded=1)
            self._counters.answer(protocol, "overloaded")
        else:
            self._counters.add(refused=1)
            self._counters.answer(protocol, "refused")
        return failure


def _resolve(pending: Sequence[Pending], error: Exception | None) -> None:
    for item in pending:
        future = item.token
        if isinstance(future, asyncio.Future) and not future.done():  # done: the sender gave up
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
