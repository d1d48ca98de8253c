"""What a decoder has to say beside the spans: rejected records and warnings, bounded whatever the input."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_toolselect.model.spans import Rejection


class BadField(Exception):
    """One field of one record cannot be read.

    Stays inside `otlp` and `receive`: it becomes a Rejection or a DecodeError. `kind`: as in Rejection.
    """

    def __init__(self, name: str, reason: str, kind: str = "invalid") -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason
        self.kind = kind

    def under(self, parent: str) -> BadField:
        """The same fault, seen from one level further out."""
        return BadField(f"{parent}.{self.name}" if self.name else parent, self.reason, self.kind)


@dataclass(slots=True)
class Notes:
    """Collects while one body is decoded.

    Warnings of one kind are counted, not repeated: input cannot flood them.
    """

    where: str = ""
    rejected_spans: list[Rejection] = field(default_factory=list)
    rejected_logs: list[Rejection] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def warn(self, kind: str) -> None:
        """`kind` is a fixed text that never holds a value from the input."""
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def reject_span(self, place: str, bad: BadField) -> None:
        self.rejected_spans.append(self._rejection(place, bad))

    def reject_log(self, place: str, bad: BadField) -> None:
        self.rejected_logs.append(self._rejection(place, bad))

    def _rejection(self, place: str, bad: BadField) -> Rejection:
        at = bad.under(place).name
        return Rejection(f"{self.where}: {at}" if self.where else at, bad.reason, bad.kind)

    @property
    def warnings(self) -> tuple[str, ...]:
        prefix = f"{self.where}: " if self.where else ""
        return tuple(f"{prefix}{kind} ({n} times)" if n > 1 else prefix + kind for kind, n in self._counts.items())
