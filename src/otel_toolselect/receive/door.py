"""What every request goes through between its port and the spool, whichever protocol brought it.

The spool, the dead letters and the store see only what came through here.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.model.spans import Batch
from otel_toolselect.receive.access import Sender
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.settings import Settings


@dataclass(frozen=True, slots=True)
class Admitted:
    """`request`: what is kept, as it goes to the spool. `notes`: what was left out or put right, for the answer."""

    request: Request
    spans: int
    logs: int
    notes: Batch


class Door:
    """Pure but for the clock that the caller passes in. Runs on the event loop, one request at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def admit(self, request: Request, sender: Sender) -> Admitted:
        """Raises an InputError when the request as a whole cannot be kept."""
        batch = request.decode(self._settings.max_request_bytes)
        return Admitted(request, len(batch.spans), len(batch.logs), batch)
