"""What `Store.judged_since` gives: decisions in the order in which they were kept, for whoever passes them on."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.model.decisions import Decision
from otel_toolselect.store.arrival_api import Cursor


@dataclass(frozen=True, slots=True)
class Kept:
    """A decision, and when it was kept (ns, by the clock of the store). Of two of one key the later one counts."""

    decision: Decision
    version: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The cursor is the one to go on with; `more`: there is another page already."""

    kept: tuple[Kept, ...]
    cursor: Cursor
    more: bool = False
