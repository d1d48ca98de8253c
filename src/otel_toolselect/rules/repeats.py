"""Calls that repeat: the one definition that redundancy (R32), recovery (R33) and the failure taxonomy share.

Two calls are *identical* when they have one canonical name and equal arguments (`model.values.canonical`); calls whose
arguments are not known are identical to none. A repeat of a call that failed is recovery. A repeat of one that did not
fail is *redundant* unless a call between them may have changed something: a write, or a tool without a declared effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.rules.view import CallView, Course, Seen


def identity(call: CallView, course: Course) -> tuple[str, str] | None:
    """What identical calls share, None when the arguments are not known."""
    text = course.arguments(call.call)
    return None if text is None else (call.name, text)


def redundant(seen: Seen) -> list[int]:
    """The places of the redundant calls of a run, in order."""
    known: list[int] | None = seen.memo.get("redundant")
    if known is None:
        # most runs call no tool twice, and then no arguments need be compared
        known = seen.memo["redundant"] = _redundant(seen) if len(seen.names) < len(seen.readings) else []
    return known


def _redundant(seen: Seen) -> list[int]:
    """A call repeats only what stands since the last change, that change included, so that arguments are compared
    among the calls of one tool between two changes alone.
    """
    between: dict[tuple[int, str], list[int]] = {}
    changes = 0
    for place, reading in enumerate(seen.readings):
        between.setdefault((changes, reading.name), []).append(place)
        if reading.mutating:  # the last of what was before it, and the first of what comes
            changes += 1
            between[changes, reading.name] = [place]
    found: list[int] = []
    for places in between.values():
        if len(places) > 1:
            found += _repeating(places, seen.course)
    return sorted(found)


def _repeating(places: Sequence[int], course: Course) -> list[int]:
    """Those of one tool's calls that repeat an earlier one, where the same call did not fail in between."""
    found: list[int] = []
    standing: set[str] = set()
    for place in places:
        call, result = course.steps[place]
        text = course.arguments(call)
        if text is None:
            continue
        if text in standing:
            found.append(place)
        if result is not None and result.ok is False:
            standing.discard(text)
        else:
            standing.add(text)
    return found


def failures(seen: Seen) -> dict[tuple[str, str], list[CallView]]:
    """Failed calls, identical ones together."""
    found: dict[tuple[str, str], list[CallView]] = {}
    for call in seen.calls if seen.course.failed else ():
        if call.ok is False:
            key = identity(call, seen.course)
            if key is not None:
                found.setdefault(key, []).append(call)
    return found
