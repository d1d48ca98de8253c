"""Counts of two sides -> what an alert on drift observes: size, p-value, and what moved, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from otel_toolselect.model.alerting import Observed, Reference, Window
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.drift import Moved, confusion_drift, mix_drift

Cells: TypeAlias = Mapping[Cell, int]
_TOLD = 5


def tools_drifted(window: Window, before: Mapping[str, int], after: Mapping[str, int], name: str = "") -> Observed:
    """`drift_tools`: first actions by tool or no-call label."""
    found = mix_drift(before, after)
    reference = Reference(None, sum(before.values()), name=name)
    if found is None:
        return Observed(window.start_ns, window.end_ns, None, sum(after.values()), reference=reference)
    return Observed(
        window.start_ns,
        window.end_ns,
        found.cramers_v,
        found.after,
        reference=reference,
        p=found.p,
        detail=(*map(_told, found.moved[:_TOLD]), f"Jensen-Shannon divergence {found.jensen_shannon:.3f} bit"),
    )


def confusion_drifted(window: Window, before: Cells, after: Cells, name: str = "") -> Observed:
    """`drift_confusion`: decisions by expected and observed label. `n` counts what is comparable: labels expected on
    both sides; when there are none although there were decisions, there is a window but no value.
    """
    found = confusion_drift(before, after)
    reference = Reference(None, sum(before.values()), name=name)
    if found is None:
        return Observed(window.start_ns, window.end_ns, None, sum(after.values()), reference=reference)
    worst = sorted(found.rows.items(), key=lambda row: (row[1].p, -row[1].cramers_v, row[0]))
    told = [
        f"{expected} expected: {_told(row.moved[0])}, p = {row.p:.2g} (Holm)"
        for expected, row in worst[:_TOLD]
        if row.moved[0].change
    ]
    return Observed(
        window.start_ns, window.end_ns, found.effect, found.after, reference=reference, p=found.p, detail=tuple(told)
    )


def _told(moved: Moved) -> str:
    return f"{moved.name} {100 * moved.change:+.1f} points ({moved.before} before, {moved.after} now)"
