"""How far judging has come: the cursor of arrivals before which everything is judged, safe to begin again from."""

from __future__ import annotations

from collections import deque

from otel_toolselect.store import Cursor


class Progress:
    """Not safe for threads. Times are those of the judge's clock."""

    def __init__(self, place: Cursor) -> None:
        self._place = place
        self._noted: deque[tuple[float, Cursor]] = deque()

    def note(self, at_s: float, cursor: Cursor) -> None:
        """Everything that arrived before the cursor was handed to the judge by then."""
        self._noted.append((at_s, cursor))

    def reached(self, judged_until_s: float) -> Cursor:
        """The latest cursor of which all is judged, given the time before which everything handed over is."""
        while self._noted and self._noted[0][0] < judged_until_s:
            self._place = self._noted.popleft()[1]
        return self._place

    def restart(self, place: Cursor) -> None:
        """What was noted holds no longer."""
        self._noted.clear()
        self._place = place
