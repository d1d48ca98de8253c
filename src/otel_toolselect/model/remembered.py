"""What a function makes of texts that senders choose, remembered within a number of entries and of bytes.

`functools.lru_cache` alone bounds the number: a thousand entries are nothing while texts are short, and gigabytes when
somebody sends long ones, each another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

K = TypeVar("K", str, bytes)
P = ParamSpec("P")
T = TypeVar("T")


def remembered(most: int, longest: int) -> Callable[[Callable[Concatenate[K, P], T]], Callable[Concatenate[K, P], T]]:
    """For a pure function whose first argument is a text; `longest`: characters of those that are remembered, beyond
    it the function is called each time. `most`: how many.
    """

    def decorate(function: Callable[Concatenate[K, P], T]) -> Callable[Concatenate[K, P], T]:
        known = lru_cache(maxsize=most)(function)

        @wraps(function)
        def called(text: K, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if len(text) > longest:
                return function(text, *args, **kwargs)
            return known(text, *args, **kwargs)  # type: ignore[arg-type]  # whatever is hashable

        return called

    return decorate
