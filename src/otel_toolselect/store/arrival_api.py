"""What `Store.arrivals` takes and gives: `arrivals` says how it works."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reader of arrivals stands: after `settled_ns`, and after so many rows of each arrival in `seen`."""

    settled_ns: int = 0
    seen: Mapping[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """For a bookmark; `parse` is the way back."""
        return json.dumps([self.settled_ns, sorted(self.seen.items())], separators=(",", ":"))

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
    """Trace ids in order, each once, and the cursor to go on with; `more`: there is another page already."""

    trace_ids: tuple[str, ...]
    cursor: Cursor
    more: bool = False
