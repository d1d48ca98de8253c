"""What every request goes through between its port and the spool, whichever protocol brought it.

The spool, the dead letters and the store see only what came through here: records that can be read back, within the
limits, inside the retention, with the sender's attributes on them, redacted. A request in which nothing had to change
is kept byte for byte; JSON is kept as the protobuf that says the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import Batch, Rejection
from otel_toolselect.otlp import redact
from otel_toolselect.otlp.jsondecode import Signal, counted, decode_document
from otel_toolselect.otlp.jsontext import as_text, loads
from otel_toolselect.otlp.limits import Limits as ReadLimits
from otel_toolselect.otlp.notes import Notes
from otel_toolselect.receive.access import Sender
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.settings import Settings
from otel_toolselect.receive.stamping import RESERVED, stamp
from otel_toolselect.receive.status import TooManyError

_WHERE = "body"
_DAY_NS = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class Admitted:
    """`request`: what is kept, as it goes to the spool. `notes`: what was left out or put right, for the answer.

    `alterations`: what was changed in records that are kept, by `counters.ALTERATIONS`.
    """

    request: Request
    spans: int
    logs: int
    notes: Batch
    alterations: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A request as a message. `body`: its bytes. `places`: where records stood in what was sent, if it was JSON."""

    message: Any
    body: bytes
    notes: Notes
    places: list[str] | None = None
    rejected: tuple[Rejection, ...] = ()
    warnings: tuple[str, ...] = ()


class Door:
    """Pure but for the clock that is passed in (nanoseconds since the epoch). Runs on the event loop, one request at a
    time.
    """

    def __init__(self, settings: Settings, now_ns: Callable[[], int] = time.time_ns) -> None:
        """Raises UsageError for redaction settings that cannot work."""
        self._settings = settings
        self._now_ns = now_ns
        self._redactor = redact.redactor(settings.redact)

    def admit(self, request: Request, sender: Sender) -> Admitted:
        """Raises an InputError when the request as a whole cannot be kept."""
        from otel_toolselect.otlp.checks import Checker
        from otel_toolselect.otlp.skim import skim

        limits = self._settings.limits
        opened = self._open(request)
        message, notes = opened.message, opened.notes
        try:
            found = skim(opened.body, request.signal)
        except DecodeError:
            # a field of another wire type than the schema's: unknown to the parser, which goes on, but not to the skim
            message.DiscardUnknownFields()
            opened = replace(opened, body=message.SerializeToString())
            found = skim(opened.body, request.signal)
        checker = Checker(limits, self._window(), notes, found, opened.places)
        checked = checker.traces(message) if request.signal == "traces" else checker.logs(message)
        changed = checked.changed
        alterations = checked.counts
        if sender.attributes or not found.has_none_of(RESERVED):
            changed |= stamp(message, request.signal, sender.attributes)
        if self._redactor is not None:
            # also when no value matched: bytes that no field claims are left behind by writing it anew
            alterations = alterations | {"redacted": self._redactor.message(message, request.signal, found)}
            changed = True
        body = message.SerializeToString() if changed else opened.body
        traces = request.signal == "traces"
        return Admitted(
            Request(request.signal, "protobuf", body),
            spans=checked.kept if traces else 0,
            logs=0 if traces else checked.kept,
            notes=Batch(
                rejected_spans=(*opened.rejected, *notes.rejected_spans) if traces else (),
                rejected_logs=() if traces else (*opened.rejected, *notes.rejected_logs),
                warnings=(*opened.warnings, *notes.warnings),
            ),
            alterations={what: n for what, n in alterations.items() if n},
        )

    def fingerprint(self, request: Request) -> str | None:
        """What to keep of a body that was refused, instead of it; None when it may be kept as it came."""
        return None if self._redactor is None else self._redactor.fingerprint(request.body)

    def _window(self) -> Any:
        from otel_toolselect.otlp.checks import Window

        now, retention = self._now_ns(), self._settings.retention
        oldest = now - retention.days * _DAY_NS if retention.days else 0
        return Window(oldest, now + int(retention.skew * 10**9), retention.days)

    def _open(self, request: Request) -> _Opened:
        return self._from_json(request) if request.encoding == "json" else self._from_protobuf(request)

    def _from_protobuf(self, request: Request) -> _Opened:
        from otel_toolselect.otlp import protodecode
        from otel_toolselect.otlp.census import holds_more

        most = self._settings.limits.messages
        if holds_more(request.body, request.signal, most):
            raise _too_many("more messages than", most)
        message = protodecode.parse(protodecode.REQUESTS[request.signal](), request.body, _WHERE)
        self._refuse_more(_counted(message, request.signal))
        return _Opened(message, request.body, Notes(_WHERE))

    def _from_json(self, request: Request) -> _Opened:
        from otel_toolselect.otlp import encode

        most = self._settings.limits.messages
        if request.body.count(b"{") + request.body.count(b"[") > most:
            raise _too_many("more objects and lists than", most)
        document = loads(as_text(request.body, where=_WHERE), where=_WHERE)
        self._refuse_more(counted(document, request.signal))
        places: list[str] = []
        limits = ReadLimits(max_bytes=self._settings.max_request_bytes, max_depth=self._settings.limits.depth)
        batch = decode_document(document, where=_WHERE, signal=request.signal, limits=limits, places=places)
        if request.signal == "traces":
            message, rejected = encode.encode_traces(batch.spans), batch.rejected_spans
        else:
            message, rejected = encode.encode_logs(batch.logs), batch.rejected_logs
        return _Opened(message, message.SerializeToString(), Notes(_WHERE), places, rejected, batch.warnings)

    def _refuse_more(self, counts: Iterable[tuple[str, int]]) -> None:
        """Than there may be of what a request is walked by. Raises TooManyError."""
        for what, n in counts:
            if n > self._settings.limits.spans:
                raise _too_many(f"{n} {what}, over", self._settings.limits.spans)


def _too_many(what: str, most: int) -> TooManyError:
    return TooManyError(f"{what} the limit of {most} in one request: send smaller batches", where=_WHERE)


def _counted(message: Any, signal: Signal) -> Iterator[tuple[str, int]]:
    """As `jsondecode.counted`, of a message: the next is only counted when the one before is within the limit. An empty
    resource takes two bytes.
    """
    traces = signal == "traces"
    groups = message.resource_spans if traces else message.resource_logs
    yield "resources", len(groups)
    scopes = [group.scope_spans if traces else group.scope_logs for group in groups]
    yield "scopes", sum(map(len, scopes))
    if traces:
        yield "spans", sum(len(scoped.spans) for each in scopes for scoped in each)
    else:
        yield "log records", sum(len(scoped.log_records) for each in scopes for scoped in each)
