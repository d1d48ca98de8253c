"""Tables that are sorted and paged on the server: the state of one, for the macro `table`.

Paging is by keyset: the address holds a cursor that `app.browse` gave with the page before, so the hundredth page costs
what the first does, and rows that arrive meanwhile move nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """`key`: what `sort` is called in the address; "" where the server cannot sort by it. `first`: the order that a
    first click asks for, "-" for the largest first.
    """

    title: str
    key: str = ""
    numeric: bool = False
    first: str = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """`sort` as in the address: `-start` is the latest first. `next`, `previous`: addresses of the neighbouring pages,
    None where there is none (`Call.at`). `total`: how many rows there are in words, when it is known.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Any]
    sort: str = ""
    next: str | None = None
    previous: str | None = None
    total: str = ""

    def order_of(self, column: Column) -> str:
        """The value of `aria-sort`."""
        if not column.key or column.key != self.sort.removeprefix("-"):
            return "none"
        return "descending" if self.sort.startswith("-") else "ascending"

    def turned(self, column: Column) -> str:
        """The value of `sort` that a click on the head of the column asks for."""
        if self.order_of(column) == "none":
            return column.first + column.key
        return column.key if self.sort.startswith("-") else f"-{column.key}"
