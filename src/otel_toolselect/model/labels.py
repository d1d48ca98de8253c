"""Labels: what somebody says was expected of a run of production traffic (R14, R47).

A label is an opinion with a name on it: several people may label one run, and a judge may too. It stays as it was
given; who changes it gives another, which replaces it, and the earlier one is kept as history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Source: TypeAlias = Literal["person", "judge"]
"""Who gives labels that are kept. What a trace says itself (`toolselect.expected`) stays with its run."""

PRECEDENCE = ("person", "attribute", "judge")
"""Of several origins on one run, the first that says something counts where figures are not cut by origin."""


@dataclass(frozen=True, slots=True)
class Label:
    """One opinion on one run. `labeller`: a person's name, or the judge's model. Times in nanoseconds UTC.

    `expected`: allowed first actions, tools or no-call labels. Empty: `first_action`, the one that was seen when the
    label was given, is wrong, and what would have been right is not said. `start_ns`, `agent`, `model`,
    `prompt_version`, `catalog_id` are those of the run at that time.

    `stratum` and `chance` say how the run came before the labeller: the probability with which the day's sample held
    it. None: it was chosen by hand, so that it stands for nothing but itself. `record`: the judge's questions and
    answers. `withdrawn`: the labeller took the label back; only history shows it.
    """

    run_id: str
    trace_id: str
    source: Source
    labeller: str
    expected: tuple[str, ...]
    first_action: str
    at_ns: int
    note: str = ""
    start_ns: int = 0
    agent: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    catalog_id: str | None = None
    stratum: str = ""
    chance: float | None = None
    record: Mapping[str, Any] = field(default_factory=dict, hash=False)
    withdrawn: bool = False

    @property
    def accepts(self) -> bool:
        """Whether the labeller finds the first action right that was there to see."""
        return self.first_action in self.expected

    @property
    def says(self) -> tuple[str, ...]:
        """What is told apart when labels are compared: the expected actions, in whatever order they were written."""
        return tuple(sorted(self.expected))


@dataclass(frozen=True, slots=True)
class Drawn:
    """One run of a day's sample. `chance` as in `Label`. `why`: failure (a rule failed), unsure, tool, random.

    `place` orders those of one `why`: strata take turns, so that whoever stops early has seen something of each.
    """

    run_id: str
    trace_id: str
    start_ns: int
    first_action: str
    agent: str
    stratum: str
    chance: float
    why: str
    place: tuple[int, str] = (0, "")
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A day of traffic to sample from. `sizes`: runs by stratum. `drawn`: in the order in which to label."""

    day: str
    sizes: Mapping[str, int]
    drawn: tuple[Drawn, ...]

    @property
    def population(self) -> int:
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class Queue:
    """What to label next. `waiting`: in order; `disputed`: of them, those on which sources disagree."""

    frame: Frame
    waiting: tuple[Drawn, ...]
    disputed: frozenset[str] = frozenset()
