"""Calls that repeat: the one definition that redundancy (R32), recovery (R33) and the failure taxonomy share.

Two calls are *identical* when they have one canonical name and equal arguments (`model.values.canonical`); calls whose
arguments are not known are identical to none. A repeat of a call that failed is recovery. A repeat of one that did not
fail is *redundant* unless a call between them may have changed something: a write, or a tool without a declared effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.rules.view import CallView, RunView


def identity(call: CallView, view: RunView) -> tuple[str, str] | None:
    """What identical calls share, None when the arguments are not known."""
    text = view.course.arguments(call.call)
    return None if text is None else (call.name, text)


def redundant(view: RunView) -> list[CallView]:
    """The redundant calls of a run, in order."""
    known: list[CallView] | None = view.seen.memo.get("redundant")
    if known is None:
        # most runs call no tool twice, and then no arguments need be compared
        repeats = len(view.seen.names) < len(view.calls)
        known = view.seen.memo["redundant"] = _redundant(view) if repeats else []
    return known


def _redundant(view: RunView) -> list[CallView]:
    """A call repeats only what stands since the last change, that change included, so that arguments are compared
    among the calls of one tool between two changes alone.
    """
    between: dict[tuple[int, str], list[CallView]] = {}
    changes = 0
    for call in view.calls:
        between.setdefault((changes, call.name), []).append(call)
        if call.mutating:  # the last of what was before it, and the first of what comes
            changes += 1
            between.setdefault((changes, call.name), []).append(call)
    again = {call.seq for calls in between.values() if len(calls) > 1 for call in _repeating(calls, view)}
    return [call for call in view.calls if call.seq in again] if again else []


def _repeating(calls: Sequence[CallView], view: RunView) -> list[CallView]:
    """Those of one tool's calls that repeat an earlier one, where the same call did not fail in between."""
    found: list[CallView] = []
    standing: set[str] = set()
    for call in calls:
        text = view.course.arguments(call.call)
        if text is None:
            continue
        if text in standing:
            found.append(call)
        if call.ok is False:
            standing.discard(text)
        else:
            standing.add(text)
    return found


def failures(view: RunView) -> dict[tuple[str, str], list[CallView]]:
    """Failed calls, identical ones together."""
    found: dict[tuple[str, str], list[CallView]] = {}
    for call in view.calls if view.course.failed else ():
        if call.ok is False:
            key = identity(call, view)
            if key is not None:
                found.setdefault(key, []).append(call)
    return found
