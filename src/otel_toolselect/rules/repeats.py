"""Calls that repeat: the one definition that redundancy (R32), recovery (R33) and the failure taxonomy share.

Two calls are *identical* when they have one canonical name and equal arguments (`model.values.canonical`); calls whose
arguments are not known are identical to none. A repeat of a call that failed is recovery. A repeat of one that did not
fail is *redundant* unless a call between them may have changed something: a write, or a tool without a declared effect.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import canonical
from otel_toolselect.rules.view import CallView, RunView


def identity(call: CallView, view: RunView) -> tuple[str, str] | None:
    """What identical calls share, None when the arguments are not known."""
    if isinstance(call.args, Unknown):
        return None
    key = ("identity", call.seq)
    found: tuple[str, str] | None = view.memo.get(key)
    if found is None:
        found = view.memo[key] = (call.name, canonical(call.args))
    return found


def redundant(view: RunView) -> list[CallView]:
    """The redundant calls of a run, in order."""
    known: list[CallView] | None = view.memo.get("redundant")
    if known is None:
        # most runs call no tool twice, and then no arguments need be compared
        names = [c.name for c in view.calls]
        known = view.memo["redundant"] = _redundant(view) if len(set(names)) < len(names) else []
    return known


def _redundant(view: RunView) -> list[CallView]:
    found: list[CallView] = []
    changes = 0
    last: dict[Any, int] = {}  # of each call that did not fail: how many changes there had been, its own included
    for call in view.calls:
        key = identity(call, view)
        if key is not None and last.get(key) == changes:
            found.append(call)
        if call.mutating:
            changes += 1
        if key is not None:
            if call.ok is False:
                last.pop(key, None)
            else:
                last[key] = changes
    return found


def failures(view: RunView) -> dict[tuple[str, str], list[CallView]]:
    """Failed calls, identical ones together."""
    found: dict[tuple[str, str], list[CallView]] = {}
    for call in view.calls:
        if call.ok is False:
            key = identity(call, view)
            if key is not None:
                found.setdefault(key, []).append(call)
    return found
