"""Where in a run the evidence of a finding lies, so that a page can show it in place.

Checks name calls by their `seq` (`{"call": 3, ...}`, `"repeated": [3, 5]`), or by the names of tools that a policy
gives them; what they say of the first action or of the answer concerns that event alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.verdicts import Finding

_NAMES = ("forbidden_observed", "to_review", "ghosts", "retired", "unneeded", "side_effects", "unexpected")
_SEQS = ("repeated",)
_FIRST = ("first_action",)
_ANSWER = ("not_said", "said_but_forbidden", "contradictions", "cited", "outcome", "about")


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of a run's events: `by_seq` of calls, `named` of calls by each name that they have, `first` of what
    decided, `answer` of the final text (None: there is none).
    """

    by_seq: Mapping[int, int]
    named: Mapping[str, Sequence[int]]
    first: int | None
    answer: int | None

    def of(self, finding: Finding) -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
        """Positions of the events that a finding is about, in order; and (position, JSON path) of wrong arguments."""
        events: set[int] = set()
        values: list[tuple[int, str]] = []
        for entry in _entries(finding.evidence):
            position = self.by_seq.get(entry["call"])
            if position is not None:
                events.add(position)
                values += [(position, path) for path in _arguments(entry)]
        events.update(self._listed(finding.evidence))
        return tuple(sorted(events)), tuple(dict.fromkeys(values))

    def _listed(self, evidence: Mapping[str, Any]) -> Iterator[int]:
        for loop in evidence.get("loops") or ():
            yield from self._seqs(loop.get("calls") if isinstance(loop, Mapping) else ())
        for key in _SEQS:
            yield from self._seqs(evidence.get(key))
        for key in _NAMES:
            for name in _texts(evidence.get(key)):
                yield from self.named.get(name, ())
        for entry in evidence.get("constraints") or ():
            if isinstance(entry, Mapping) and "call" not in entry:
                yield from self.named.get(str(entry.get("tool")), ())
        if self.first is not None and any(key in evidence for key in _FIRST):
            yield self.first
        if self.answer is not None and any(evidence.get(key) for key in _ANSWER):
            yield self.answer

    def _seqs(self, listed: Any) -> Iterator[int]:
        for seq in listed if isinstance(listed, (list, tuple)) else ():
            if isinstance(seq, int) and seq in self.by_seq:
                yield self.by_seq[seq]


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    """Objects at any depth that name a call by its number."""
    if isinstance(value, Mapping):
        if isinstance(value.get("call"), int):
            yield value
        for member in value.values():
            yield from _entries(member)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _entries(item)


def _arguments(entry: Mapping[str, Any]) -> Iterator[str]:
    for mismatch in entry.get("mismatches") or ():
        name = mismatch.get("argument") if isinstance(mismatch, Mapping) else None
        if isinstance(name, str):
            yield name if name.startswith("$") else f"$.{name}"


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
