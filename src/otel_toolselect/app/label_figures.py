"""What labels amount to: accuracy by source, an estimate for all traffic, and how far sources agree (R14, R47)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from otel_toolselect.app.labels import Desk, day_of
from otel_toolselect.model.alerting import Query, Scope, Window
from otel_toolselect.model.decisions import LABELS, Decision
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.labels import Label
from otel_toolselect.stats.agreement import agreement_of
from otel_toolselect.stats.detection import Detection, detection
from otel_toolselect.stats.labelled import AgreementFigures, Dispute, LabelFigures, Pair
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.survey import Unit, calibrated, estimate

if TYPE_CHECKING:
    from otel_toolselect.store import Store

MAX_DAYS = 400  # of the newest labels: each day is drawn again to know its size
MAX_NS = 2**63 - 1
_WIDE = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class _Opinion:
    expected: str
    right: bool


def label_figures(store: Store, desk: Desk, since_ns: int | None, until_ns: int | None) -> LabelFigures:
    """Over runs that start within the window."""
    window = Window(since_ns or 0, until_ns if until_ns is not None else MAX_NS)
    labels, decisions = _read(store, since_ns, until_ns)
    right = {
        d.run_id: d.layers["selection"] == "pass"
        for d in decisions
        if d.suite == LABELS and d.origin == "person" and d.layers.get("selection") in ("pass", "fail")
    }
    sampled = _sampled(labels)
    units = [
        Unit(right[run_id], 1 / (label.chance or 1.0), f"{day_of(label.start_ns)}/{label.stratum}")
        for run_id, label in sampled.items()
        if run_id in right
    ]
    days = sorted({day_of(label.start_ns) for label in sampled.values()})[-MAX_DAYS:]
    sizes = {f"{day}/{name}": n for day in days for name, n in desk.frame(day).sizes.items()}
    people = {label.run_id for label in labels if label.source == "person"}
    return LabelFigures(
        sources=_accuracy(store, window, ("origin",)),
        counted=_accuracy(store, window, ()).get("", rate(0, 0)),
        sample=estimate(calibrated(units, sizes)),
        population=sum(sizes.values()),
        by_hand=len(people - sampled.keys()),
    )


def _accuracy(store: Store, window: Window, by: tuple[str, ...]) -> dict[str, Rate]:
    """Selection accuracy of labelled runs by origin, or of "" for all together."""
    found = store.observe(Query("accuracy", Scope(suite=(LABELS,)), by), [window])
    return {
        dict(series).get("origin", ""): rate(observed.numerator or 0, observed.n)
        for series, (observed,) in sorted(found.items())
    }


def agreement_figures(store: Store, since_ns: int | None, until_ns: int | None) -> AgreementFigures:
    """Every pair of sources, and what rules and judges are worth where people have looked."""
    labels, decisions = _read(store, since_ns, until_ns)
    said: dict[str, dict[str, _Opinion]] = {}
    for label in labels:
        name = label.labeller if label.source == "person" else f"judge {label.labeller}"
        said.setdefault(name, {})[label.run_id] = _Opinion(_cell(label), label.accepts)
    for decision in decisions:
        if decision.suite == LABELS and decision.origin == "attribute" and decision.cells:
            right = decision.layers.get("selection") == "pass"
            said.setdefault("attribute", {})[decision.run_id] = _Opinion(decision.cells[0].expected, right)
    people = {label.labeller for label in labels if label.source == "person"}
    return AgreementFigures(
        pairs=tuple(_pairs(said, people)),
        detections=tuple(_detections(said, people, labels, decisions)),
        disputes=tuple(_disputes(said, labels)),
    )


def _read(store: Store, since_ns: int | None, until_ns: int | None) -> tuple[list[Label], list[Decision]]:
    """Labels of people and judges on runs of a window, and the decisions on these runs, from whomever."""
    labels = list(store.labels.all(since_ns=since_ns, until_ns=until_ns))
    starts = [label.start_ns for label in labels]
    if not starts:
        return labels, []
    # a run may begin elsewhere since it was labelled, as late spans came
    first, last = min(starts) - _WIDE, max(starts) + _WIDE
    return labels, list(store.labels.decisions([label.run_id for label in labels], first, last))


def _sampled(labels: Iterable[Label]) -> dict[str, Label]:
    """By run, the label of a person that says how it was sampled; of several the one given first."""
    found: dict[str, Label] = {}
    for label in sorted(labels, key=lambda x: x.at_ns):
        if label.source == "person" and label.chance:
            found.setdefault(label.run_id, label)
    return found


def _cell(label: Label) -> str:
    """What the label expects, as a confusion matrix has it: the action that was taken if it is allowed."""
    if label.accepts:
        return label.first_action
    return label.expected[0] if label.expected else f"not {label.first_action}"


def _pairs(said: Mapping[str, Mapping[str, _Opinion]], people: set[str]) -> Iterable[Pair]:
    order = [*sorted(people), *sorted(said.keys() - people)]
    for a, b in combinations(order, 2):
        shared = sorted(said[a].keys() & said[b].keys())
        names = a in people | {"attribute"} and b in people | {"attribute"}
        if shared:
            both = [(said[a][run], said[b][run]) for run in shared]
            pairs = [(x.expected, y.expected) if names else (str(x.right), str(y.right)) for x, y in both]
            yield Pair(agreement_of(a, b, pairs), "expected" if names else "right or wrong")


def _detections(
    said: Mapping[str, Mapping[str, _Opinion]],
    people: set[str],
    labels: Sequence[Label],
    decisions: Sequence[Decision],
) -> Iterable[Detection]:
    from otel_toolselect.judge.labelling import consensus

    by_run: dict[str, list[Label]] = {}
    for label in labels:
        if label.source == "person":
            by_run.setdefault(label.run_id, []).append(label)
    agreed = {run_id: consensus(given) for run_id, given in by_run.items()}
    wrong = {run_id: not label.accepts for run_id, label in agreed.items() if label is not None}
    flags: dict[str, dict[str, bool]] = {}
    for decision in decisions:
        if decision.rule and decision.suite != LABELS and decision.status in ("pass", "fail"):
            flags.setdefault(f"rule {decision.suite}/{decision.rule}", {})[decision.run_id] = decision.status == "fail"
    for name in sorted(said.keys() - people):
        flags[name] = {run_id: not opinion.right for run_id, opinion in said[name].items()}
    found = (detection(name, flagged, wrong) for name, flagged in flags.items())
    return sorted((one for one in found if one.n), key=lambda one: one.name)


def _disputes(said: Mapping[str, Mapping[str, _Opinion]], labels: Sequence[Label]) -> Iterable[Dispute]:
    seen = {label.run_id: label.first_action for label in labels}
    for run_id in sorted(seen):
        given = {name: opinions[run_id] for name, opinions in said.items() if run_id in opinions}
        named = {o.expected for name, o in given.items() if not name.startswith("judge ")}
        if len({o.right for o in given.values()}) > 1 or len(named) > 1:
            yield Dispute(run_id, seen[run_id], {name: given[name].expected for name in sorted(given)})
