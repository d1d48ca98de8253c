"""How well something that flags runs finds the wrong ones, held against people who looked (R14, R47).

`wrong` is what people say of the first action. precision = flagged and wrong / flagged; recall = flagged and wrong /
wrong; cleared = not flagged and right / not flagged: what to expect of a run that it does not flag. Each with n and
Wilson's interval, None where nothing is there to count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.figures import Rate
from otel_toolselect.stats.rates import rate


@dataclass(frozen=True, slots=True)
class Detection:
    """`n`: runs that both it and people said something about."""

    name: str
    n: int
    precision: Rate
    recall: Rate
    cleared: Rate


def detection(name: str, flagged: Mapping[str, bool], wrong: Mapping[str, bool]) -> Detection:
    """`flagged`, `wrong`: by run. What only one of them speaks about does not count."""
    shared = sorted(flagged.keys() & wrong.keys())
    hits = sum(flagged[run] and wrong[run] for run in shared)
    marked = sum(flagged[run] for run in shared)
    bad = sum(wrong[run] for run in shared)
    spared = sum(not flagged[run] and not wrong[run] for run in shared)
    return Detection(name, len(shared), rate(hits, marked), rate(hits, bad), rate(spared, len(shared) - marked))
