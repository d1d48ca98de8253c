"""What `Store.arrivals` takes and gives: `arrivals` says how it works."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

_ALL = 2**63


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reader of arrivals stands: after `settled_ns`, and after so many rows of each arrival in `seen`."""

    settled_ns: int = 0
    seen: Mapping[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """For a bookmark; `parse` is the way back."""
        return json.dumps([self.settled_ns, sorted(self.seen.items())], separators=(",", ":"))

    def meet(self, other: Cursor) -> Cursor:
        """The cursor that has told of what both have told of."""
        settled = min(self.settled_ns, other.settled_ns)
        seen = {at: min(self._told(at), other._told(at)) for at in {*self.seen, *other.seen} if at > settled}
        return Cursor(settled, {at: rows for at, rows in seen.items() if rows})

    def _told(self, at: int) -> int:
        return _ALL if at <= self.settled_ns else self.seen.get(at, 0)

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """ValueError where the text is no cursor."""
        try:
            settled, seen = json.loads(text)
            return cls(int(settled), {int(at): int(rows) for at, rows in seen})
        except (TypeError, ValueError) as error:
            raise ValueError(f"not a cursor of arrivals: {text[:40]!r}") from error


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Trace ids in order, each once, and the cursor to go on with; `more`: there is another page already. `width_s`:
    arrivals so close together count as one, which is told of again as it grows; asking more often gains nothing.
    """

    trace_ids: tuple[str, ...]
    cursor: Cursor
    more: bool = False
    width_s: float = 0.0
