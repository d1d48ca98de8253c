"""What fails together is done again in halves, until those are found that fail by themselves: one among a thousand is
found in ten steps. Each for itself would be written for itself, and judging would stand still for minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from otel_toolselect.errors import StoreError

T = TypeVar("T")


def in_halves(items: Sequence[T], act: Callable[[Sequence[T]], None], give_up: Callable[[Exception], None]) -> None:
    """`give_up` is told what each one failed with that failed alone. Raises StoreError: that is no fault of theirs."""
    if not items:
        return
    try:
        act(items)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - it may be any mistake of ours
        if len(items) == 1:
            give_up(error)
            return
        middle = len(items) // 2
        in_halves(items[:middle], act, give_up)
        in_halves(items[middle:], act, give_up)
