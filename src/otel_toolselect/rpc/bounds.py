"""How large an answer may be."""

from __future__ import annotations

from otel_toolselect.errors import TooLargeError

ANSWER_BYTES = 32 * 2**20
"""The client of this package takes messages of twice that."""


def bounded(size: int) -> None:
    """Raises TooLargeError for an answer of more bytes than clients take."""
    if size > ANSWER_BYTES:
        raise TooLargeError(f"the answer has more than {ANSWER_BYTES:,} bytes; ask for less", where="answer")
