"""One constraint for all order rules: a call must wait for another (R27). Used by `never` ("X before Y ok") and
`order`.

A call waits for another when the other one's result was there before it was decided (`view.CallView.knew`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.rules.selectors import Selector, Tool
from otel_toolselect.rules.view import CallView, RunView


@dataclass(frozen=True, slots=True)
class Violation:
    """`certain` False: the trace does not say whether the needed call succeeded. `by_absence`: no needed call at
    all."""

    call: CallView
    needed: str
    certain: bool
    by_absence: bool
    sentence: str

    @property
    def evidence(self) -> Mapping[str, Any]:
        return {"call": self.call.seq, "tool": self.call.name, "needs": self.needed, "reason": self.sentence}


@dataclass(frozen=True, slots=True)
class Before:
    """No call of `call` before a call of `needs`; with `ok`, before one that succeeded and whose result was there."""

    call: Selector
    needs: Selector
    ok: bool

    def concerned(self, view: RunView) -> list[CallView]:
        """The calls that have to wait."""
        if isinstance(self.call, Tool) and self.call.name not in view.seen.names:
            return []
        return [c for c in view.calls if self.call.matches(c)]

    def violations(self, concerned: Sequence[CallView], view: RunView) -> list[Violation]:
        if not concerned:
            return []
        needed = [c for c in view.calls if self.needs.matches(c)]
        found = [self._violation(c, [n for n in needed if n is not c]) for c in concerned]
        return [v for v in found if v is not None]

    def _violation(self, call: CallView, needed: Sequence[CallView]) -> Violation | None:
        earlier = [c for c in needed if c.seq < call.seq]
        if earlier and not self.ok:
            return None
        name = self.needs.label
        if not earlier:
            later = f"; {name} came later" if needed else f"; {name} was never called"
            return Violation(call, name, True, not needed, f"{call.name} was called before any call of {name}{later}")
        waited = [c for c in earlier if call.knew(c)]
        if any(c.ok for c in waited):
            return None
        if any(c.ok is None for c in waited):
            said = f"{call.name} was called after {name}, but the trace does not say whether that succeeded"
            return Violation(call, name, False, False, said)
        why = "had failed" if waited else "had no result yet (both were called in one message)"
        return Violation(call, name, True, False, f"{call.name} was called although {name} {why}")
