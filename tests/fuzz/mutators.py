"""Changes that keep the outer form of an input, so that the fuzzer spends its time behind it and not at the door.

Each takes an input and a source of chance and gives another input; none raises, whatever it is given.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

import zstandard

from otel_toolselect.receive.records import (
    FRAME_BYTES,
    MARKER_BYTES,
    SEGMENT_HEAD_BYTES,
    Packer,
    Request,
    head_of,
    is_whole,
    read_head,
    request_of,
)

Mutate: TypeAlias = Callable[[bytes, random.Random], bytes]

Field: TypeAlias = "tuple[int, int, Any]"
"""Number, wire type, and an integer, bytes, or the fields of a nested message."""

SECRET = re.compile(r"tok-[0-9]{6}")
"""What the redacting door takes out; some values of the lists below hold one."""
_DEEPEST = 8  # of a message that is taken apart; deeper ones stay bytes
_INTEGERS = (0, 1, 2, 5, 6, 24, 25, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)
_BYTES = (b"", b"\0" * 16, b"\0" * 8, b"\xff" * 16, b"\xff" * 8, b"\xff" * 7, b"\xed\xa0\x80", b"\xc3", b"service.name",
    b"tok-123456", b"{\"a\": [\"\\u0074ok-123456\", 1]}", b"app.secret.key", b"x" * 300,
)  # fmt: skip
_VALUES = (
    None, True, False, 0, -1, 1e308, "", "0", "-1", "1e3", "9007199254740993.0", "NaN", "Infinity", "true", "\ud800",
    "0" * 32, "f" * 16, "AAAAAAAAAAAAAAAAAAAAAQ==", "STATUS_CODE_ERROR", "\u0000", 2**63, 2**64, 10**400, [], {},
    "a tok-123456 b", "{\"a\": \"\\u0074ok-123456\", \"app.secret\": 5}", "app.secret.key", "x" * 300,
)  # fmt: skip
_NAMES = (
    "resourceSpans", "resource_spans", "scopeSpans", "spans", "resourceLogs", "scopeLogs", "logRecords", "resource",
    "scope", "attributes", "key", "value", "stringValue", "intValue", "doubleValue", "boolValue", "bytesValue",
    "arrayValue", "kvlistValue", "values", "traceId", "spanId", "parentSpanId", "startTimeUnixNano", "endTimeUnixNano",
    "kind", "status", "code", "events", "links", "timeUnixNano", "body", "severityNumber", "data", "traceID", "spanID",
    "processes", "processID", "references", "refType", "tags", "logs", "fields", "type", "startTime", "duration",
    "batches", "trace", "instrumentationLibrarySpans", "name",
)  # fmt: skip


def protobuf(data: bytes, chance: random.Random) -> bytes:
    """One to four changes to the fields of a message, at any depth; lengths are right again afterwards."""
    fields = _parse(data, 0)
    if fields is None:
        return _bytes(data, chance)
    for _ in range(chance.randint(1, 4)):
        _change_fields(fields, chance)
    return _write(fields)


def _parse(data: bytes, depth: int) -> list[Field] | None:
    """The fields of a message; None when the bytes are none."""
    fields: list[Field] = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if at < 0 or not number or wire not in (0, 1, 2, 5):
            return None
        if wire == 0:
            value, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire, 0)
            if wire == 2:
                size, at = _varint(data, at)
            if at < 0 or at + size > len(data):
                return None
            value = data[at : at + size]
            at += size
            if wire == 2 and depth < _DEEPEST and value:
                value = _parse(value, depth + 1) or value
        if at < 0:
            return None
        fields.append((number, wire, value))
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number and the position behind it, which is -1 when there is none."""
    value = shift = 0
    while 0 <= at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    return 0, -1


def _write(fields: list[Field]) -> bytes:
    out = bytearray()
    for number, wire, value in fields:
        out += _as_varint(number << 3 | wire)
        if wire == 0:
            out += _as_varint(value)
            continue
        body = _write(value) if isinstance(value, list) else value
        out += (_as_varint(len(body)) if wire == 2 else b"") + body
    return bytes(out)


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _change_fields(fields: list[Field], chance: random.Random) -> None:
    nested = [value for _, _, value in fields if isinstance(value, list)]
    while nested and chance.random() < 0.8:
        fields = chance.choice(nested)
        nested = [value for _, _, value in fields if isinstance(value, list)]
    if not fields:
        fields.append(_new_field(chance))
        return
    at = chance.randrange(len(fields))
    number, wire, value = fields[at]
    match chance.randrange(7):
        case 0:
            del fields[at]
        case 1:
            fields.insert(at, fields[chance.randrange(len(fields))])
        case 2:
            fields[at] = (chance.randint(1, 16), wire, value)
        case 3:
            fields[at] = (number, 2, [(number, wire, value)])  # one level deeper
        case 4:
            fields.insert(at, _new_field(chance))
        case _:
            fields[at] = (number, wire, _other_value(wire, value, chance))


def _new_field(chance: random.Random) -> Field:
    wire = chance.choice((0, 1, 2, 2, 5))
    return chance.randint(1, 16), wire, _other_value(wire, b"", chance)


def _other_value(wire: int, value: Any, chance: random.Random) -> Any:
    if wire == 0:
        return chance.choice((*_INTEGERS, chance.getrandbits(64)))
    if wire in (1, 5):
        return struct.pack("<Q", chance.choice((*_INTEGERS, chance.getrandbits(64))))[: 8 if wire == 1 else 4]
    if isinstance(value, bytes) and value and chance.random() < 0.5:
        return _bytes(value, chance)
    return chance.choice((*_BYTES, chance.randbytes(chance.randrange(40))))


def json_text(data: bytes, chance: random.Random) -> bytes:
    """One to four changes to the values of a document, at any depth."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _bytes(data, chance)
    holder = [document]
    for _ in range(chance.randint(1, 4)):
        _change_json(holder, chance)
    try:
        return json.dumps(holder[0], ensure_ascii=chance.random() < 0.9).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return data


def _change_json(holder: Any, chance: random.Random) -> None:
    places = list(holder) if isinstance(holder, dict) else range(len(holder))
    place = chance.choice(places)
    while isinstance(holder[place], dict | list) and holder[place] and chance.random() < 0.85:
        holder = holder[place]
        place = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match chance.randrange(6):
        case 0 if len(holder) > 1:
            del holder[place]
        case 1 if isinstance(holder, list):
            holder.append(json.loads(json.dumps(holder[place])))
        case 1 | 2 if isinstance(holder, dict):
            holder[chance.choice(_NAMES)] = holder[place] if chance.random() < 0.5 else chance.choice(_VALUES)
        case 3:
            holder[place] = [holder[place]] if chance.random() < 0.5 else {chance.choice(_NAMES): holder[place]}
        case _:
            holder[place] = json.loads(json.dumps(chance.choice(_VALUES)))


def file(data: bytes, chance: random.Random) -> bytes:
    """A changed document, in one of the framings that files have: see `otlp/files.py`."""
    form = json_text if data[:1] in (b"{", b"[") else protobuf
    body = form(data, chance) if chance.random() < 0.6 else data
    match chance.randrange(8):
        case 0:
            return gzip.compress(body, mtime=0)
        case 1:
            return zstandard.ZstdCompressor().compress(body)
        case 2:
            return len(body).to_bytes(4, "big") + body + len(data).to_bytes(4, "big") + data
        case 3:
            return _as_varint(len(body)) + body + _as_varint(len(data)) + data
        case 4:
            return body + b"\n" + data
        case 5:
            return _bytes(data, chance)
        case _:
            return body


def coded(data: bytes, chance: random.Random) -> bytes:
    """A byte that picks the coding, then data in that coding or near it; at times a bomb."""
    plain = chance.choice((data, b"", bytes(chance.choice((10, 100_000, 3_000_000))), data * 50))[: 4 * 1024 * 1024]
    match chance.randrange(4):
        case 0:
            packed = gzip.compress(plain, mtime=0)
        case 1:
            packed = zstandard.ZstdCompressor(write_content_size=chance.random() < 0.5).compress(plain)
        case 2:
            packed = data[1:] * 2  # a second member or frame behind the first
        case _:
            packed = data[1:]
    return data[:1] + (_bytes(packed, chance) if chance.random() < 0.7 else packed)


def request(data: bytes, chance: random.Random) -> bytes:
    """A byte that picks the kind of request, then a changed request, at times of another kind."""
    first = bytes([chance.randrange(8)]) if not data or chance.random() < 0.1 else data[:1]
    return first + (json_text if first[0] & 2 else protobuf)(data[1:], chance)


def segment(data: bytes, chance: random.Random) -> bytes:
    """A segment whose records are whole again, the change being in a body, or a change of bytes anywhere."""
    marker = data[SEGMENT_HEAD_BYTES - MARKER_BYTES : SEGMENT_HEAD_BYTES]
    out, at = bytearray(data[:SEGMENT_HEAD_BYTES]), SEGMENT_HEAD_BYTES
    packer = Packer(chance.choice(("none", "zstd")))
    while chance.random() < 0.9 and (head := read_head(marker, data[at : at + FRAME_BYTES])) is not None:
        frame, crc = head
        at += FRAME_BYTES + frame.size
        stored = data[at - frame.size : at]
        if not is_whole(frame, crc, stored):  # as the spool does: what else it says, sizes too, means nothing
            break
        try:
            request = request_of(frame, stored)
        except zstandard.ZstdError:
            break
        if chance.random() < 0.5:
            change = json_text if request.encoding == "json" else protobuf
            request = Request(request.signal, request.encoding, change(request.body, chance))
        frame, stored = packer.pack(request, frame.records, frame.since_ns)
        out += head_of(marker, frame, stored) + stored
        if chance.random() < 0.1:
            out += chance.randbytes(chance.randrange(60))  # damage between two records
    return bytes(out) if at > SEGMENT_HEAD_BYTES else _bytes(data, chance)


def _bytes(data: bytes, chance: random.Random) -> bytes:
    """A flipped, lost, doubled or foreign byte or run of bytes."""
    out = bytearray(data)
    at = chance.randrange(len(out) + 1)
    run = chance.choice((1, 1, 2, 4, 16))
    match chance.randrange(4):
        case 0:
            out[at : at + run] = chance.randbytes(run)
        case 1:
            del out[at : at + run]
        case 2:
            out[at:at] = out[at : at + run]
        case _:
            del out[at:]
    return bytes(out)
