"""What labels amount to, as plain data: figures by source, and how far sources agree (R14, R47)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from otel_toolselect.model.figures import Rate
from otel_toolselect.stats.agreement import Agreement
from otel_toolselect.stats.detection import Detection
from otel_toolselect.stats.survey import Estimate


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """`sources`: selection accuracy by origin, as labelled; `counted`: each run once, by precedence. `sample`: what
    people's labels on sampled runs say of all runs of those days, `population` of them; `by_hand`: runs that people
    labelled and no sample held.
    """

    sources: Mapping[str, Rate]
    counted: Rate
    sample: Estimate
    population: int
    by_hand: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sources, and what of them is compared: where one only judges what was done, whether that was right."""

    agreement: Agreement
    about: Literal["expected", "right or wrong"]


@dataclass(frozen=True, slots=True)
class Dispute:
    """A run on which sources disagree, with what each says, by source."""

    run_id: str
    first_action: str
    said: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """`detections`: rules, judges and attributes held against what people say."""

    pairs: tuple[Pair, ...] = ()
    detections: tuple[Detection, ...] = ()
    disputes: tuple[Dispute, ...] = ()
