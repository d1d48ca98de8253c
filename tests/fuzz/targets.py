"""What is fuzzed: every reader of bytes that somebody else wrote, as a function of one input.

A target returns when the reader did what it promises, for sound and for unsound input alike: either one of our typed
errors, or a batch in which every value is what the model says (`model/spans.py`). Anything else that leaves the
function is a finding. Memory and time are bounded by whoever calls it: `run.py` by limits of the fuzzer, `test_fuzz.py`
by the size of its inputs.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from otel_toolselect import config
from otel_toolselect.errors import InputError
from otel_toolselect.otlp import CODINGS, binary, decode_json, decompress, files, jaeger, jsontext, protodecode
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.limits import Limits
from otel_toolselect.otlp.replies import Encoding
from otel_toolselect.receive.access import ANYBODY
from otel_toolselect.receive.door import Door
from otel_toolselect.receive.records import Request, request_of
from otel_toolselect.receive.segments import Found, open_segment, scan
from otel_toolselect.receive.settings import Settings
from tests.fuzz import mutators
from tests.fuzz.soundness import check_batch, check_error, check_note

LIMITS = Limits(max_bytes=1024 * 1024)
"""Smaller than the receiver's own, so that an input of a few bytes can pass them."""


@dataclass(frozen=True, slots=True)
class Target:
    """`mutate` knows the format, where plain changes of bytes would seldom get past its outermost layer."""

    run: Callable[[bytes], None]
    mutate: mutators.Mutate | None = None


def _traces_protobuf(data: bytes) -> None:
    check_batch(protodecode.decode_traces(data, where="body", limits=LIMITS), LIMITS)


def _logs_protobuf(data: bytes) -> None:
    check_batch(protodecode.decode_logs(data, where="body", limits=LIMITS), LIMITS)


def _either_protobuf(data: bytes) -> None:
    check_batch(binary.decode_any(data, where="file:1", limits=LIMITS), LIMITS)


def _json(data: bytes) -> None:
    for signal in ("traces", "logs", None):
        try:
            check_batch(decode_json(data, where="body", signal=signal, limits=LIMITS), LIMITS)
        except InputError as error:
            check_error(error)


def _jaeger(data: bytes) -> None:
    document = jsontext.loads(jsontext.as_text(data, where="body"), where="body")
    if isinstance(document, dict) and jaeger.is_jaeger(document):
        check_batch(jaeger.decode_document(document, where="body", limits=LIMITS), LIMITS)


def _files(data: bytes) -> None:
    for batch in files.read([_on_disk(data)], limits=LIMITS):
        check_batch(batch, LIMITS)


def _inflate(data: bytes) -> None:
    """The first byte picks the coding, so that one corpus serves all."""
    coding = CODINGS[data[0] % len(CODINGS)] if data else "gzip"
    assert len(decompress(data[1:], coding, LIMITS.max_bytes)) <= LIMITS.max_bytes


def _spool(data: bytes) -> None:
    """A segment as a crash or a disk may leave it: every byte is in a whole record or reported as damage, in order."""
    segment = open_segment(Path(_on_disk(data)))
    if segment is None:
        return
    at = segment.known
    for item in scan(segment, at, segment.size):
        assert item.offset == at
        assert item.end > at
        at = item.end
        if not isinstance(item, Found):
            continue
        request = request_of(item.frame, item.stored)
        assert request.kind == item.frame.kind
        assert len(request.body) == item.frame.raw
        try:
            check_batch(request.decode(LIMITS.max_bytes), LIMITS)
        except InputError as error:
            check_error(error)
    assert at == segment.size


def _door(data: bytes) -> None:
    """The first byte picks signal, encoding and whether texts are redacted. What is admitted can be read back as a
    whole, holds nothing that was to be taken out, and is not changed again by the same door, unless it is cut: what
    stands in place of a text may be longer than it was.
    """
    if not data:
        return
    signal: Signal = "logs" if data[0] & 1 else "traces"
    encoding: Encoding = "json" if data[0] & 2 else "protobuf"
    redacting = bool(data[0] & 4)
    door = _REDACTING if redacting else _PLAIN
    admitted = door.admit(Request(signal, encoding, data[1:]), ANYBODY)
    for note in (*admitted.notes.rejected_spans, *admitted.notes.rejected_logs):
        check_note(note.where + note.reason)
    batch = admitted.request.decode(LIMITS.max_bytes)
    assert not batch.rejected_spans
    assert not batch.rejected_logs
    assert (len(batch.spans), len(batch.logs)) == (admitted.spans, admitted.logs)
    check_batch(batch, LIMITS)
    if redacting:
        assert mutators.SECRET.search(repr(batch)) is None
    again = door.admit(admitted.request, ANYBODY)
    if again.alterations.keys() <= {"clock_skew", "redacted"}:
        assert "redacted" not in again.alterations
        assert repr(again.request.decode(LIMITS.max_bytes)) == repr(batch)  # NaN is not equal to itself


_NOW_NS = 1_793_700_000 * 10**9
_SMALL = config.Limits(attributes=8, events=3, links=3, value_bytes=200, key_bytes=40, depth=5, spans=50)
_RULES = config.Redact(rule=(config.RedactRule(pattern=mutators.SECRET.pattern, action="mask"),), deny=("app.secret*",))
_PLAIN = Door(Settings(spool=Path(), limits=_SMALL), now_ns=lambda: _NOW_NS)
_REDACTING = Door(Settings(spool=Path(), limits=_SMALL, redact=_RULES), now_ns=lambda: _NOW_NS)

TARGETS: dict[str, Target] = {
    "traces_protobuf": Target(_traces_protobuf, mutators.protobuf),
    "logs_protobuf": Target(_logs_protobuf, mutators.protobuf),
    "either_protobuf": Target(_either_protobuf, mutators.protobuf),
    "json": Target(_json, mutators.json_text),
    "jaeger": Target(_jaeger, mutators.json_text),
    "files": Target(_files, mutators.file),
    "inflate": Target(_inflate, mutators.coded),
    "spool": Target(_spool, mutators.segment),
    "door": Target(_door, mutators.request),
}


def run(name: str, data: bytes) -> None:
    """One input through one target. Raises whatever is a finding, nothing else."""
    try:
        TARGETS[name].run(data)
    except InputError as error:
        check_error(error)


def mutated(name: str, data: bytes, seed: int) -> bytes:
    """Another input near `data`, the same for the same seed."""
    mutate = TARGETS[name].mutate
    return data if mutate is None else mutate(data, random.Random(seed))


_scratch: Path | None = None


def _on_disk(data: bytes) -> str:
    """One file per process, written anew for each input."""
    global _scratch
    if _scratch is None:
        handle, name = tempfile.mkstemp(prefix="toolselect-fuzz-")
        os.close(handle)
        _scratch = Path(name)
        import atexit

        atexit.register(_scratch.unlink, missing_ok=True)
    _scratch.write_bytes(data)
    return str(_scratch)
