"""Experiments: prompts held, one thing varied (R45, R56), and what became of each value; displacement (R53).

Formulas are in `stats.experiments` and `stats.displacement`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from otel_toolselect.model.figures import Rate

MoveKind: TypeAlias = Literal["fixed", "broken", "displaced", "rerouted"]


@dataclass(frozen=True, slots=True)
class Move:
    """Cases whose most frequent first action is another one than before. `expected` as before."""

    kind: MoveKind
    expected: str
    before: str
    after: str
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Arm:
    """One setting that all cases are run under. `series` is the variation that it is of, "" for the base; `value` what
    was varied, None where a variation has a single setting.
    """

    name: str
    series: str
    value: int | str | None
    model: str
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Against:
    """An arm against the base of its comparison, over the `cases` that both have, by majority."""

    base: str
    cases: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    p: float | None
    p_holm: float | None
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """`accuracy` is over runs, `majority` over cases; in both a run that was not offered a right tool is wrong.
    `when_offered` leaves such runs out; `offered` is the share that was offered one. `tools` = (fewest, mean, most)
    offered. `against` None for the base.
    """

    arm: Arm
    runs: int
    infra: int
    incomplete: int
    accuracy: Rate
    majority: Rate
    when_offered: Rate
    offered: Rate
    flips: Rate
    stable_groups: Rate
    right_pairs: Rate
    tools: tuple[int, float, int] | None
    input_tokens: float | None
    seconds: float | None
    against: Against | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """`arms` in the order of the file, the base first. `outcomes`: (right, runs) of each case, one per arm."""

    name: str
    suite: str
    cases: int
    attempts: int
    arms: tuple[ArmFigures, ...]
    outcomes: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.arm.model for one in self.arms))

    @property
    def series(self) -> tuple[str, ...]:
        """Variations in the order of the file."""
        return tuple(dict.fromkeys(one.arm.series for one in self.arms if one.arm.series))
