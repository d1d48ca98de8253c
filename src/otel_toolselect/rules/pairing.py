"""Multisets are paired, never compared as sets: one observed thing satisfies one expected thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def pair(fits: Sequence[Sequence[int]]) -> dict[int, int]:
    """A maximum matching: observed index -> expected index, where `fits[expected]` lists the observed that fit it."""
    taken: dict[int, int] = {}
    for start in range(len(fits)):
        # breadth-first search for an augmenting path, so that a long list cannot exhaust the stack
        came: dict[int, int] = {}
        queue = [start]
        end: int | None = None
        while queue and end is None:
            expected = queue.pop(0)
            for observed in fits[expected]:
                if observed not in came:
                    came[observed] = expected
                    if observed not in taken:
                        end = observed
                        break
                    queue.append(taken[observed])
        _flip(end, came, taken, start)
    return taken


def _flip(end: int | None, came: Mapping[int, int], taken: dict[int, int], start: int) -> None:
    while end is not None:
        expected = came[end]
        before = next((o for o, e in taken.items() if e == expected), None)
        taken[end] = expected
        if expected == start:
            return
        end = before
