"""Bounds on what is read: nothing that a sender controls is unbounded (design section 10)."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_bytes`: one request or one document, after decompression. `max_depth`: nesting of one attribute
    value.

    30 levels of key-value lists are 95 nested protobuf messages; the parser itself stops at 100, so both
    encodings refuse at the same depth and only the span concerned is refused.
    """

    max_bytes: int = 20 * MIB
    """The OTLP specification's recommendation for servers."""
    max_depth: int = 30
    max_zstd_window: int = 8 * MIB
    """What RFC 8878 section 3.1.1.1.2 asks every decoder to support."""


DEFAULT = Limits()
FILES = Limits(max_bytes=256 * MIB, max_zstd_window=128 * MIB)
"""For files that the user names: one document of a stream; the stream itself may be of any length."""
