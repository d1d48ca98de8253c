"""The policy file of a gate: which conditions are on, each with its own limits (R43).

    gate: support                       # a name, free
    min_n: 20                           # for every condition that does not set its own
    conditions:
      accuracy: {tolerance: from_flip_rate, at_most: 0.05, min: 0.8}
      risk_floors: {floors: {high: 0.95}}
      key_pairs: {pairs: [[refund_order, get_invoice]]}
      paired: false                     # off; `true` or a mapping turns on

A condition that the file does not name keeps its default. Unknown conditions and options are errors with their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.errors import SuiteError
from otel_toolselect.gates.condition import FROM_FLIPS, LEVELS, Condition, Option
from otel_toolselect.registry import discover
from otel_toolselect.rules.documents import Fields, Items, Node, Problems, Scalar, read_document

PACKAGE = "otel_toolselect.gates.conditions"


def known_conditions() -> dict[str, Condition]:
    """All conditions by name."""
    return dict(discover(PACKAGE))


def defaults(condition: Condition, min_n: int | None = None) -> dict[str, Any]:
    found = {name: option.default for name, option in condition.options.items()}
    if min_n is not None and "min_n" in found:
        found["min_n"] = min_n
    return found


@dataclass(frozen=True, slots=True)
class Policy:
    """The conditions that are on, with all of their options, by name."""

    on: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {name: defaults(c) for name, c in known_conditions().items() if c.on}
    )
    name: str = ""


def load_policy(path: str | None) -> Policy:
    """The policy in a file; None: the defaults. Raises InputError, or SuiteError with every mistake."""
    return Policy() if path is None else read_policy(*read_document(path))


def read_policy(root: Node, problems: Problems) -> Policy:
    found = problems.fields(root, "a gate policy", ("gate", "min_n", "conditions")) or {}
    name = problems.text(found["gate"][1], "gate") if "gate" in found else ""
    min_n = problems.whole(found["min_n"][1], "min_n", least=0) if "min_n" in found else None
    known = known_conditions()
    given = problems.fields(found["conditions"][1], "conditions", known) if "conditions" in found else {}
    on: dict[str, Mapping[str, Any]] = {}
    for key, condition in known.items():
        wanted = _wanted((given or {}).get(key, (None, None))[1], condition, min_n, problems)
        if wanted is not None:
            on[key] = wanted
    if not on and not problems.found:
        problems.add(root, "every condition is off, so the gate would pass anything", "turn one on")
    if problems.found:
        raise SuiteError(problems.found)
    return Policy(on, name or "")


def _wanted(node: Node | None, condition: Condition, min_n: int | None, problems: Problems) -> dict[str, Any] | None:
    """The options of a condition that is on, None when it is off."""
    options = defaults(condition, min_n)
    if node is None:
        return options if condition.on else None
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return options if node.value else None
    if isinstance(node, Scalar) and node.text in ("on", "off"):
        return options if node.text == "on" else None
    if not isinstance(node, Fields):
        problems.add(node, f"{condition.name} must be true, false or a mapping of its options", _known(condition))
        return None
    for name, (_, value) in (problems.fields(node, condition.name, condition.options) or {}).items():
        read = _READERS[condition.options[name].kind](value, name, problems)
        if read is not None:
            options[name] = read
    return options


def _known(condition: Condition) -> str:
    return "known: " + ", ".join(condition.options)


def _share(node: Node, what: str, problems: Problems) -> float | None:
    value = problems.number(node, what)
    if value is not None and not 0 <= value <= 1:
        problems.add(node, f"{what} must be a share from 0 to 1, not {value}", "write 0.05 for 5 %")
        return None
    return value


def _count(node: Node, what: str, problems: Problems) -> int | None:
    return problems.whole(node, what, least=0)


def _tolerance(node: Node, what: str, problems: Problems) -> str | float | None:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        if node.text == FROM_FLIPS:
            return FROM_FLIPS
        problems.add(node, f"{what} cannot be {node.text!r}", f"write {FROM_FLIPS} or a share such as 0.02")
        return None
    return _share(node, what, problems)


def _floors(node: Node, what: str, problems: Problems) -> dict[str, float] | None:
    if not isinstance(node, Fields):
        problems.add(node, f"{what} must be a mapping", "write {high: 0.95}")
        return None
    found = {key.text: _share(value, f"the floor of {key.text}", problems) for key, value in node.entries}
    return {name: floor for name, floor in found.items() if floor is not None}


def _pairs(node: Node, what: str, problems: Problems) -> tuple[tuple[str, str], ...]:
    found = []
    for entry in problems.items(node, what, example="[[EXPECTED, OBSERVED]]"):
        texts = [t for t, _ in problems.texts(entry, "a pair")] if isinstance(entry, Items) else []
        if len(texts) == 2:
            found.append((texts[0], texts[1]))
        else:
            problems.add(entry, f"an entry of {what} must be a pair", "write [EXPECTED, OBSERVED]")
    return tuple(found)


def _flag(node: Node, what: str, problems: Problems) -> bool | None:
    return problems.boolean(node, what)


def _level(node: Node, what: str, problems: Problems) -> str | None:
    return problems.choice(node, what, LEVELS)


_READERS: Mapping[str, Any] = {
    "share": _share,
    "count": _count,
    "tolerance": _tolerance,
    "floors": _floors,
    "pairs": _pairs,
    "flag": _flag,
    "level": _level,
}


def described() -> list[tuple[str, str, bool, Mapping[str, Option]]]:
    """Name, sentence, whether it is on by default, options: for help and documentation."""
    return [(name, c.help, c.on, c.options) for name, c in known_conditions().items()]
