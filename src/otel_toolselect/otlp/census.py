"""How many messages a request holds, told before it is parsed: an empty one takes two bytes on the wire, a hundred
and more as an object, so that a body within its limit could take gigabytes.

One pass of the parser for each level of nesting: messages above the level are merged into one ("Last One Wins", see
`skim`), those on it are left as bytes, of which the parser keeps where they are. A body with room for too many is
looked at down to where what is left has room no more; others, which is nearly all, are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, count
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError as ProtobufError

from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.protodecode import REQUESTS

_SMALLEST = 2
"""Bytes of an empty message within another: its number, and its length."""
_BYTES, _MESSAGE = 12, 11
_ONCE, _MANY = 1, 3
_PACKAGE = "toolselect.census"


def holds_more(body: bytes, signal: Signal, most: int) -> bool:
    """Whether a serialized request holds more messages than `most`, at all levels together. Bytes that are no request
    hold none: who parses them says so.
    """
    found = 0
    left = len(body)
    for level in count(1):
        if found + left // _SMALLEST <= most:
            return False
        top = _class(signal, level)()
        try:
            top.ParseFromString(body)
        except ProtobufError:
            return False
        columns = list(_columns(top))
        parts = sum(map(len, columns))
        found += parts
        if found > most:
            return True
        if not parts:
            return False
        left = sum(map(len, chain.from_iterable(columns)))
    raise AssertionError  # count has no end


def _columns(top: Any) -> Iterator[Any]:
    """The parts on the level that was left as bytes, a list for each path to it."""
    pending = [top]
    while pending:
        for descriptor, value in pending.pop().ListFields():
            if descriptor.message_type is not None:
                pending.append(value)
            else:
                yield value


@cache
def _class(signal: Signal, level: int) -> Any:
    """OTLP's request with what is on `level` as bytes. Level 1 has the resources."""
    file = descriptor_pb2.FileDescriptorProto(
        name=f"toolselect/census_{signal}_{level}.proto", package=f"{_PACKAGE}.{signal}{level}", syntax="proto3"
    )
    top = REQUESTS[signal].DESCRIPTOR
    made: set[str] = set()
    pending = [(top, 1)]
    while pending:
        about, depth = pending.pop()
        name = f"{about.name}_{depth}"
        if name in made:
            continue
        made.add(name)
        message = file.message_type.add(name=name)
        for field in about.fields:
            if field.message_type is None:
                continue
            if depth == level:
                message.field.add(name=field.name, number=field.number, label=_MANY, type=_BYTES)
            else:
                below = f".{file.package}.{field.message_type.name}_{depth + 1}"
                message.field.add(name=field.name, number=field.number, label=_ONCE, type=_MESSAGE, type_name=below)
                pending.append((field.message_type, depth + 1))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{top.name}_1"))
