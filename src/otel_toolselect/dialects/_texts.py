"""What was made of a text, remembered by the text within a limit of bytes."""

from __future__ import annotations

from threading import Lock
from typing import TypeVar

T = TypeVar("T")

_FACTOR = 8  # what is made of a text takes several times its size: an object for each of its values
_OVERHEAD = 256


class Texts(dict[str, T]):
    """A mapping from texts to what was made of them, which forgets everything when it grows past `limit` bytes.

    For texts that repeat from span to span; asked as a dict is. Safe for threads: two of them may at worst make the
    same thing twice. What is kept must be treated as read-only.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._held = 0
        self._lock = Lock()

    def __setitem__(self, text: str, made: T) -> None:
        size = _OVERHEAD + _FACTOR * len(text)
        if size > self._limit >> 3:  # one giant must not drive out all others
            return
        with self._lock:
            if self._held + size > self._limit:
                self.clear()
                self._held = 0
            super().__setitem__(text, made)
            self._held += size
