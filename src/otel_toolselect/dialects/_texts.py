"""What was made of a text, remembered by the text within a limit of bytes."""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

_FACTOR = 8  # what is made of a text takes several times its size: an object for each of its values
_OVERHEAD = 256


class Texts(Generic[T]):
    """A mapping from texts to what was made of them, which forgets everything when it grows past `limit` bytes.

    For texts that repeat from span to span. Safe for threads: two of them may at worst make the same thing twice. What
    is kept must be treated as read-only. Raises KeyError like a dict.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._known: dict[str, T] = {}
        self._lock = Lock()

    def __getitem__(self, text: str) -> T:
        return self._known[text]

    def __setitem__(self, text: str, made: T) -> None:
        size = _OVERHEAD + _FACTOR * len(text)
        if size > self._limit >> 3:  # one giant must not drive out all others
            return
        with self._lock:
            if self._held + size > self._limit:
                self._known, self._held = {}, 0
            self._known[text] = made
            self._held += size

    def __len__(self) -> int:
        return len(self._known)
