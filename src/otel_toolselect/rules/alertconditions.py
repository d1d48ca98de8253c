"""Conditions of alerts. What can never fire, always fires, or fires when all is well is refused, with the way out."""

from __future__ import annotations

from typing import cast

from otel_toolselect.model.alerting import AGAINST, Against, Change, Condition, Drift, Limit, Span
from otel_toolselect.model.signals import Signal
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.alertparts import Found
from otel_toolselect.rules.durations import parse_span
from otel_toolselect.rules.problems import Problems

CONDITION_KEYS = ("above", "below", "against", "drop", "rise", "effect", "significance", "period")
SIGNIFICANCE = 0.01
_SYNONYMS = {"over": "above", "gt": "above", "under": "below", "lt": "below", "than": "against", "min_effect": "effect"}


def parse_condition(
    node: Node | None, at: Node, signal: Signal, window: Span | None, problems: Problems
) -> Condition | None:
    """None after a mistake. Without a node the signal's own condition holds, where it has one."""
    if node is None:
        if signal.limit is not None:
            return Limit(signal.limit[0], signal.limit[1])
        problems.add(
            at, f"the alert has no condition, and {signal.name} implies none", f"write condition: {_example(signal)}"
        )
        return None
    found = problems.fields(node, "condition", CONDITION_KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    ways = [key for key in ("above", "below", "against") if key in found]
    if len(ways) != 1:
        said = "the condition names no limit" if not ways else f"the condition holds {' and '.join(ways)}"
        problems.add(node, said, f"write {_example(signal)}")
        return None
    if ways == ["against"]:
        return _against(found, node, signal, window, problems)
    for key in found.keys() - {"above", "below"}:
        problems.add(
            found[key][0], f"{key!r} belongs to a comparison", "write against: baseline beside it, or take it out"
        )
    return _limit(found, cast("str", ways[0]), signal, problems)


def _example(signal: Signal) -> str:
    if signal.kind == "test":
        return "{against: baseline, effect: 0.1}"
    side = "below" if signal.worse == "down" else "above"
    return f"{{{side}: {0.9 if side == 'below' else 0.1}}}" if signal.kind == "ratio" else f"{{{side}: 10}}"


def _limit(found: Found, side: str, signal: Signal, problems: Problems) -> Limit | None:
    node = found[side][1]
    value = problems.number(node, side)
    if value is None:
        return None
    if signal.kind == "test":
        problems.add(found[side][0], f"{signal.name} is a test against something", f"write {_example(signal)}")
        return None
    if signal.kind == "ratio":
        _share_limit(found[side][0], node, side, value, signal, problems)
    elif value < 0 or (value == 0 and side == "below"):
        fault = "always" if side == "above" else "never"
        problems.add(node, f"{signal.name} is {fault} {side} {value}", "it is 0 or more")
    return Limit("above" if side == "above" else "below", float(value))


def _share_limit(key: Scalar, node: Node, side: str, value: float, signal: Signal, problems: Problems) -> None:
    if not 0 <= value <= 1:
        way = f"write {value / 100:g} for {value:g} %" if 1 < value <= 100 else "a share lies between 0 and 1"
        problems.add(node, f"{signal.name} is a share, and {value:g} is none", way)
    elif (side == "above" and value == 1) or (side == "below" and value == 0):
        problems.add(node, f"no share is {side} {value:g}: the alert could never fire", f"write {_example(signal)}")
    elif {"above": "down", "below": "up"}[side] == signal.worse:
        other = "below" if side == "above" else "above"
        problems.add(
            key, f"{signal.name} {side} {value:g} is no fault: it hurts {other} a limit", f"write {other}: {value:g}"
        )


def _against(found: Found, node: Node, signal: Signal, window: Span | None, problems: Problems) -> Condition | None:
    word = problems.choice(found["against"][1], "against", AGAINST)
    against = cast("Against | None", word)
    significance = _significance(found, signal, problems)
    period = _period(found, against, window, problems)
    test = signal.kind == "test"
    wanted = ("effect",) if test else ("drop", "rise")
    for key in ("effect", "drop", "rise"):
        if key in found and key not in wanted:
            way = "write effect: 0.1" if test else "write drop or rise"
            problems.add(found[key][0], f"{key!r} says nothing of {signal.name}", way)
    named = [key for key in wanted if key in found]
    if len(named) != 1:
        said = "a comparison needs the least change that matters" if not named else "it cannot both drop and rise"
        problems.add(node, said, "write effect: 0.1" if test else f"write {_direction(signal)}: 0.05")
        return None
    least = _least(found[named[0]], named[0], signal, problems)
    if against is None or least is None:
        return None
    if test:
        return Drift(against, least, SIGNIFICANCE if significance is None else significance, period)
    return Change(against, "drop" if named == ["drop"] else "rise", least, significance, period)


def _direction(signal: Signal) -> str:
    return "drop" if signal.worse == "down" else "rise"


def _least(entry: tuple[Scalar, Node], key: str, signal: Signal, problems: Problems) -> float | None:
    value = problems.number(entry[1], key)
    if value is None:
        return None
    if value <= 0 or (value > 1 and (signal.kind in ("ratio", "test") or key == "drop")):
        problems.add(entry[1], f"{key} cannot be {value:g}", "write 0.05 for 5 %")
        return None
    if signal.kind == "ratio" and {"drop": "up", "rise": "down"}.get(key) == signal.worse:
        problems.add(entry[0], f"a {key} of {signal.name} is no fault", f"write {_direction(signal)}: {value:g}")
    return float(value)


def _significance(found: Found, signal: Signal, problems: Problems) -> float | None:
    if "significance" not in found:
        return None if signal.kind == "quantile" else SIGNIFICANCE
    key, node = found["significance"]
    value = problems.number(node, "significance")
    if signal.kind == "quantile":
        problems.add(
            key, f"no test is made of a quantile such as {signal.name}", "take significance out; min_count guards it"
        )
    elif value is not None and not 0 < value <= 0.2:
        problems.add(node, f"significance cannot be {value:g}", "write 0.01: the chance of a false alarm in a window")
    return None if value is None else float(value)


def _period(found: Found, against: Against | None, window: Span | None, problems: Problems) -> Span | None:
    if "period" not in found:
        return None
    key, node = found["period"]
    period = parse_span(node, "period", problems)
    if against in ("baseline", "release"):
        problems.add(
            key, "'period' says how far back the previous window lies", "write against: previous, or take it out"
        )
    elif period is not None and window is not None and period.ns < window.ns:
        problems.add(
            node,
            f"a period of {period} is shorter than the window, which would be compared with itself in part",
            f"write period: {window}, or more",
        )
    return period
