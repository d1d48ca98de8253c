"""What follows from a label on a stored run, before it is given, and giving it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from otel_toolselect.app.audit import Origin
from otel_toolselect.app.labels import NO_RUNS, Desk
from otel_toolselect.errors import InputError, NotFoundError
from otel_toolselect.model.answers import LabelOutcome
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_toolselect.config import Settings
    from otel_toolselect.store import Store


@dataclass(frozen=True, slots=True)
class Opinion:
    """A label as it is asked for. `expected` as in `Label`; `strange`: also tools that the run was not offered."""

    expected: tuple[str, ...]
    labeller: str
    note: str = ""
    strange: bool = False


def outcome(store: Store, settings: Settings, run: Run, beside: Sequence[Run], opinion: Opinion) -> LabelOutcome:
    """What would follow. `beside`: the runs around this one. Raises UsageError for tools that were not on offer."""
    desk = Desk(store, settings)
    label = _label(desk, run, opinion)
    return _outcome(store, desk, run, beside, label)


def kept(
    store: Store, settings: Settings, run: Run, beside: Sequence[Run], opinion: Opinion, origin: Origin
) -> LabelOutcome:
    """The label is given, by whom the audit log is told: what follows. Raises UsageError, InputError without a name,
    NotFoundError for a run that is not kept.
    """
    if not opinion.labeller.strip():
        raise InputError("nobody is named, and the caller has no name either", where="labeller")
    if not list(store.runs(run_ids=[run.run_id])):
        raise NotFoundError(f"run {run.run_id!r} is not kept yet, so that no label can be; {NO_RUNS}")
    desk = Desk(store, settings, origin=origin)
    names = _names(desk, run, opinion)
    label = desk.label(run, opinion.labeller, names, note=opinion.note)
    changed = desk.keep([label])
    return replace(_outcome(store, desk, run, beside, label), stored=True, changed=bool(changed))


def _names(desk: Desk, run: Run, opinion: Opinion) -> tuple[str, ...]:
    return desk.checked(run, opinion.expected, strange=opinion.strange, way_out="allow_not_offered")


def _label(desk: Desk, run: Run, opinion: Opinion) -> Label:
    from otel_toolselect.rules import RunView

    return Label(
        run_id=run.run_id,
        trace_id=run.trace_id,
        source="person",
        labeller=opinion.labeller,
        expected=_names(desk, run, opinion),
        first_action=RunView(run, desk.labelling.policy).first_action,
        at_ns=time.time_ns(),
        note=opinion.note,
        start_ns=run.start_ns,
    )


def _outcome(store: Store, desk: Desk, run: Run, beside: Sequence[Run], label: Label) -> LabelOutcome:
    others = [
        given
        for given in store.labels.of_runs([run.run_id])
        if (given.source, given.labeller) != (label.source, label.labeller)
    ]
    labelling = replace(desk.labelling, given=lambda run_ids: [*others, label] if run.run_id in run_ids else others)
    around = [other for other in beside if other.run_id == run.parent_run_id]
    decisions = [d for d in labelling.decisions([*around, run]) if d.run_id == run.run_id]
    verdict = labelling.verdict(run, label)
    assert verdict is not None  # it was given for the first action that is there
    return LabelOutcome(run.run_id, label.accepts, verdict, tuple(decisions))
