"""Who a run is: deterministic ids, and the case, suite, label and attempt that its spans name (design section 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.observations import Observation


@dataclass(frozen=True, slots=True)
class CaseAttributes:
    """Names of the attributes that identify a case, the first that is set wins. They are settings."""

    case_id: tuple[str, ...] = ("toolselect.case.id", "test.case.name")
    suite: tuple[str, ...] = ("toolselect.suite", "test.suite.name")
    label: tuple[str, ...] = ("toolselect.label", "test.run.id")
    attempt: tuple[str, ...] = ("toolselect.attempt",)


DEFAULT_ATTRIBUTES = CaseAttributes()


def run_id(trace_id: str, root_span_id: str) -> str:
    """32 hex digits from the trace and the root span; for a run without a root, from the trace alone."""
    return hashlib.sha256(f"{trace_id}:{root_span_id}".encode()).hexdigest()[:32]


def named(sources: Sequence[Observation], keys: Iterable[str]) -> str | None:
    """The first value of any of these attributes: on the spans in the order given, then on their resources."""
    maps: list[Mapping[str, Any]] = [o.span.attributes for o in sources]
    maps += [o.span.resource for o in sources]
    for key in keys:
        for attributes in maps:
            value = attributes.get(key)
            if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
                return str(value)
    return None


def attempt(sources: Sequence[Observation], keys: Iterable[str]) -> int | None:
    value = named(sources, keys)
    return int(value) if value is not None and value.lstrip("-").isdigit() else None
