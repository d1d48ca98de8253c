"""Which attempts a run is made of, and in which order.

Attempts stand in rounds: every case once, then every case again. A run that is cut short then has whole rounds. With a
seed each round is shuffled, the same for the same seed and suite.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_toolselect.errors import UsageError
from otel_toolselect.rules import Case, Suite


@dataclass(frozen=True, slots=True)
class Attempt:
    """One case, sent once; `number` counts from 1."""

    case: Case
    number: int

    @property
    def prompt(self) -> str:
        return self.case.prompt or ""

    @property
    def key(self) -> tuple[str, int]:
        return self.case.id, self.number


def choose(suite: Suite, ids: Sequence[str], tags: Mapping[str, str]) -> Suite:
    """The suite with the cases of these ids (all, without any) that carry all of these tags.

    Raises UsageError for an id that the suite does not have, and when nothing is left.
    """
    known = {case.id for case in suite.cases}
    unknown = [name for name in ids if name not in known]
    if unknown:
        raise UsageError(f"{suite.name} has no case {', '.join(map(repr, unknown))}")
    wanted = set(ids) or known
    kept = [
        case
        for case in suite.cases
        if case.id in wanted and all(case.tags.get(name) == value for name, value in tags.items())
    ]
    if not kept:
        said = " ".join(f"{name}={value}" for name, value in tags.items())
        raise UsageError(f"no case of {suite.name} is left by --case and --tag {said}".rstrip())
    return replace(suite, cases=tuple(kept))


def plan(suite: Suite, attempts: int, seed: int | None = None) -> tuple[Attempt, ...]:
    """All attempts in order; cases without a prompt cannot be sent and are left out. Raises UsageError if all are."""
    cases = [case for case in suite.cases if case.prompt]
    if not cases:
        raise UsageError(f"no chosen case of {suite.name} has a prompt, so there is nothing to send")
    found: list[Attempt] = []
    draw = random.Random(seed)  # noqa: S311  an order, no secret
    for number in range(1, attempts + 1):
        round_ = [Attempt(case, number) for case in cases]
        if seed is not None:
            draw.shuffle(round_)
        found += round_
    return tuple(found)
