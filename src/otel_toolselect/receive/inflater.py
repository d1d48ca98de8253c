"""Takes content codings off beside the event loop, one body at a time: so that a large one keeps nobody waiting, and
memory holds one that is growing and no more.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from otel_toolselect.otlp import decompress

_AT_ONCE = 16 * 1024
"""Bytes; less is inflated on the spot (about a millisecond), as going to a thread costs more than that."""


class Inflater:
    """`limit` in bytes, before and after. The thread starts with the first large body and ends with its owner."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="toolselect-inflate")

    async def inflate(self, body: bytes, coding: str) -> bytes:
        """Raises what `otlp.decompress` raises."""
        if len(body) <= _AT_ONCE:
            return decompress(body, coding, self._limit)
        return await asyncio.get_running_loop().run_in_executor(self._thread, decompress, body, coding, self._limit)
