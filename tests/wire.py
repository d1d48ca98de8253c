"""Bytes of protobuf messages, written by hand: what no library would write."""

from __future__ import annotations

from collections.abc import Sequence


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def within(inner: bytes, tags: Sequence[int]) -> bytes:
    """Bytes in a message in a message ...: the tag of each, from the outside in."""
    for tag in reversed(tags):
        inner = bytes([tag]) + varint(len(inner)) + inner
    return inner
