"""Who a run is: deterministic ids, and the case, suite, label and attempt that its spans name (design section 4)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.model.observations import Observation


@dataclass(frozen=True, slots=True)
class CaseAttributes:
    """Names of the attributes that identify a case or say what is expected, the first that is set wins. They are
    settings.
    """

    case_id: tuple[str, ...] = ("toolselect.case.id", "test.case.name")
    suite: tuple[str, ...] = ("toolselect.suite", "test.suite.name")
    label: tuple[str, ...] = ("toolselect.label", "test.run.id")
    attempt: tuple[str, ...] = ("toolselect.attempt",)
    expected: tuple[str, ...] = ("toolselect.expected",)
    every: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        every = (*self.case_id, *self.suite, *self.label, *self.attempt, *self.expected)
        object.__setattr__(self, "every", frozenset(every))


DEFAULT_ATTRIBUTES = CaseAttributes()
_LONGEST_NAME, _MOST_NAMES = 256, 32
_NUMBER = re.compile(r"-?[0-9]{1,18}")  # a store keeps 64 bits


def run_id(trace_id: str, root_span_id: str, tenant: str = "") -> str:
    """32 hex digits from the trace and the root span; for a run without a root, from the trace alone. Of tenants who
    send the same ids each has a run of its own.
    """
    whose = f":{tenant}" if tenant else ""
    return hashlib.sha256(f"{trace_id}:{root_span_id}{whose}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Named:
    """What spans name: attributes of the spans in the order given, then of their resources."""

    def __init__(self, sources: Sequence[Observation], names: CaseAttributes) -> None:
        shared = {id(o.span.resource): o.span.resource for o in sources}  # spans of one request share it
        self._maps = [*_naming((o.span.attributes for o in sources), names), *_naming(shared.values(), names)]

    @classmethod
    def without_resources(cls, sources: Sequence[Observation], names: CaseAttributes) -> Named:
        """For nested runs: what a resource says is said of the run that answers the user."""
        found = cls((), names)
        found._maps = _naming((o.span.attributes for o in sources), names)
        return found

    def first(self, keys: Iterable[str]) -> str | None:
        """The first value of any of these attributes, as text."""
        for key in keys:
            for attributes in self._maps:
                if key in attributes:
                    value = attributes[key]
                    if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
                        return str(value)
        return None

    def number(self, keys: Iterable[str]) -> int | None:
        value = self.first(keys)
        return int(value) if value is not None and _NUMBER.fullmatch(value) else None

    def listed(self, keys: Iterable[str]) -> tuple[str, ...]:
        """The first of these attributes that names something: a list of texts, or one text parted by commas."""
        for key in keys:
            for attributes in self._maps:
                value = attributes.get(key)
                parts = value.split(",") if isinstance(value, str) else value
                if not isinstance(parts, (list, tuple)):
                    continue
                names = [part.strip() for part in parts if isinstance(part, str)]
                found = dict.fromkeys(name for name in names if name and len(name) <= _LONGEST_NAME)
                if found:
                    return tuple(found)[:_MOST_NAMES]
        return ()


def _naming(held: Iterable[Mapping[str, Any]], names: CaseAttributes) -> list[Mapping[str, Any]]:
    """Those that name anything, which few do."""
    every = names.every
    return [attributes for attributes in held if not attributes.keys().isdisjoint(every)]
