"""What a whole request holds, as a few flat lists, without a visit to each record.

Touching an attribute in Python costs more than parsing it, so a clean request should be known as clean without that.
Protobuf merges a message field that is not repeated when it comes again (encoding guide, "Last One Wins"). The schema
below has OTLP's numbers, with every repeated *message* declared single and every single *scalar* declared repeated:
parsing a request with it gathers all keys of all spans in one list, all strings in another, in C.

The lists say what occurs somewhere, not where. Whoever finds something there that matters walks the real message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError as ProtobufError

from otel_toolselect.errors import DecodeError
from otel_toolselect.otlp.jsondecode import Signal

_DOUBLE, _INT64, _BYTES, _MESSAGE = 1, 3, 12, 11
_ONCE, _MANY = 1, 3
_VALUE = {"texts": (1, _BYTES), "ints": (3, _INT64), "doubles": (4, _DOUBLE), "blobs": (7, _BYTES)}
_Schema: TypeAlias = dict[str, dict[str, tuple[int, int | str]]]
_SCHEMA: _Schema = {
    "Value": {**_VALUE, "array": (5, "Array"), "kvlist": (6, "KeyValues")},
    "Array": {"value": (1, "Value")},
    "KeyValues": {"attributes": (1, "KeyValue")},
    "KeyValue": {"keys": (1, _BYTES), "value": (2, "Value")},
    "Resource": {"attributes": (1, "KeyValue")},
    "Scope": {"name": (1, _BYTES), "version": (2, _BYTES), "attributes": (3, "KeyValue")},
    "Event": {"name": (2, _BYTES), "attributes": (3, "KeyValue")},
    "Link": {"trace_state": (3, _BYTES), "attributes": (4, "KeyValue")},
    "Status": {"message": (2, _BYTES)},
    "Span": {
        "trace_state": (3, _BYTES),
        "name": (5, _BYTES),
        "attributes": (9, "KeyValue"),
        "events": (11, "Event"),
        "links": (13, "Link"),
        "status": (15, "Status"),
    },
    "Log": {
        "severity_text": (3, _BYTES),
        "body": (5, "Value"),
        "attributes": (6, "KeyValue"),
        "event_name": (12, _BYTES),
    },
    "ScopeSpans": {"scope": (1, "Scope"), "records": (2, "Span"), "schema_url": (3, _BYTES)},
    "ScopeLogs": {"scope": (1, "Scope"), "records": (2, "Log"), "schema_url": (3, _BYTES)},
    "ResourceSpans": {"resource": (1, "Resource"), "scopes": (2, "ScopeSpans"), "schema_url": (3, _BYTES)},
    "ResourceLogs": {"resource": (1, "Resource"), "scopes": (2, "ScopeLogs"), "schema_url": (3, _BYTES)},
    "Traces": {"groups": (1, "ResourceSpans")},
    "Logs": {"groups": (1, "ResourceLogs")},
}
_PARTS: _Schema = {
    "Scopes": {"scope": (1, _BYTES), "records": (2, _BYTES), "schema_url": (3, _BYTES)},
    "Groups": {"resource": (1, _BYTES), "scopes": (2, "Scopes"), "schema_url": (3, _BYTES)},
    "Parts": {"groups": (1, "Groups")},
}
"""Both signals alike; what the parts hold is left unread."""
_COLUMNS = {"keys": "keys", "blobs": "blobs", "ints": "numbers", "doubles": "numbers"}
_TOPS: dict[Signal, str] = {"traces": "Traces", "logs": "Logs"}


class Skim:
    """Everything of one kind that a request holds, at any depth; bytes as they came. Made when first asked for."""

    def __init__(self, top: Any, body: bytes = b"") -> None:
        self._body = body
        self._columns: dict[str, list[Any]] = {"keys": [], "texts": [], "blobs": [], "numbers": []}
        self.depth = 0
        """Levels of nesting of the deepest value."""
        for holder, depth in _holders(top):
            self.depth = max(self.depth, depth)
            for name, column in _columns(holder):
                self._columns[_COLUMNS.get(name, "texts")].append(column)

    @cached_property
    def keys(self) -> list[bytes]:
        return list(chain.from_iterable(self._columns["keys"]))

    @cached_property
    def texts(self) -> list[bytes]:
        """Values that are strings, and names, states and messages of records."""
        return list(chain.from_iterable(self._columns["texts"]))

    @cached_property
    def blobs(self) -> list[bytes]:
        return list(chain.from_iterable(self._columns["blobs"]))

    @cached_property
    def numbers(self) -> list[int | float]:
        return list(chain.from_iterable(self._columns["numbers"]))

    def longest(self) -> int:
        """Bytes of the longest text or blob."""
        return max(max(map(len, self.texts), default=0), max(map(len, self.blobs), default=0))

    def has_longer_than(self, nbytes: int) -> bool:
        """Whether a text or blob is longer. None is longer than the record, resource or scope that it is in, and to
        take those out of the body costs a third of taking out the texts.
        """
        return len(self._body) > nbytes and _longest_part(self._body) > nbytes and self.longest() > nbytes

    def longest_key(self) -> int:
        return max(map(len, self.keys), default=0)

    def has_none_of(self, keys: Sequence[bytes]) -> bool:
        return not any(key in self.keys for key in keys)


def skim(body: bytes, signal: Signal) -> Skim:
    """The lists of a serialized request. Raises DecodeError when it is none."""
    return Skim(_parse(_TOPS[signal], body), body)


def _longest_part(body: bytes) -> int:
    parts = (part for holder, _ in _holders(_parse("Parts", body)) for _, part in _columns(holder))
    return max(map(len, chain.from_iterable(parts)), default=0)


def _parse(top: str, body: bytes) -> Any:
    message = _class(top)()
    try:
        message.ParseFromString(body)
    except ProtobufError:
        raise DecodeError("not an OTLP protobuf request, or cut short") from None
    return message


def _holders(top: Any) -> Iterator[tuple[Any, int]]:
    """Every message of the tree with its depth of values. The tree has one node a path, not one a record."""
    pending = [(top, 0)]
    while pending:
        holder, depth = pending.pop()
        yield holder, depth
        for descriptor, value in holder.ListFields():
            if descriptor.message_type is not None:
                pending.append((value, depth + (descriptor.name in ("array", "kvlist"))))


def _columns(holder: Any) -> Iterator[tuple[str, Any]]:
    for descriptor, column in holder.ListFields():
        if descriptor.message_type is None:
            yield descriptor.name, column


@cache
def _class(top: str) -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="toolselect/skim.proto", package="toolselect.skim", syntax="proto3")
    for name, members in (_SCHEMA | _PARTS).items():
        message = file.message_type.add(name=name)
        for member, (number, kind) in members.items():
            if isinstance(kind, str):
                message.field.add(
                    name=member, number=number, label=_ONCE, type=_MESSAGE, type_name=f".toolselect.skim.{kind}"
                )
            else:
                message.field.add(name=member, number=number, label=_MANY, type=kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"toolselect.skim.{top}"))
