"""The attributes of a sender on the resource of everything that it sends.

They say who sent it, so they replace what the sender itself claims under the same key, and a tenant is never taken from
a claim: `toolselect.tenant` goes wherever the sender's entry does not set it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otel_toolselect.model.runs import TENANT
from otel_toolselect.otlp.jsondecode import Signal

RESERVED = (TENANT.encode(),)
"""Keys, as on the wire, that only a receiver may set."""


def stamp(message: Any, signal: Signal, attributes: Mapping[str, str]) -> bool:
    """Sets the attributes on every resource of a request; True when that changed something."""
    changed = False
    claimed = {TENANT, *attributes}
    for resource, others in _holders(message, signal):
        if not _has_exactly(resource.attributes, attributes, claimed):
            _remove(resource.attributes, claimed)
            for key, value in attributes.items():
                resource.attributes.add(key=key).value.string_value = value
            changed = True
        for holder in others:
            changed |= _remove(holder.attributes, {TENANT})
    return changed


def _holders(message: Any, signal: Signal) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Each resource, and what below it has attributes that could be taken for the resource's."""
    groups = message.resource_spans if signal == "traces" else message.resource_logs
    for group in groups:
        yield group.resource, _below(group.scope_spans if signal == "traces" else group.scope_logs, signal)


def _below(scopes: Any, signal: Signal) -> Iterator[Any]:
    for scoped in scopes:
        yield scoped.scope
        yield from scoped.spans if signal == "traces" else scoped.log_records


def _has_exactly(items: Any, attributes: Mapping[str, str], claimed: set[str]) -> bool:
    found = [(item.key, item.value.string_value) for item in items if item.key in claimed]
    return sorted(found) == sorted(attributes.items())


def _remove(items: Any, keys: set[str]) -> bool:
    found = [i for i, item in enumerate(items) if item.key in keys]
    for i in reversed(found):
        del items[i]
    return bool(found)
