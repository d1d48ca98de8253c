"""What is wrong with what servers offer, without a call (R55, R46).

- unreachable: the server could not be asked.
- collision: two servers offer one name, so that a call may reach either.
- schema: parameters that are no JSON Schema, or none that a model can fill in.
- hint: an MCP server that does not say whether a tool changes something, or says other than the policy.
- drift: other tools, descriptions, schemas or hints than were pinned.
- unchecked: no contract check calls the tool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import jsonschema_rs

from otel_toolselect.model.preflight import Concern, Hints, Offer, OfferedTool
from otel_toolselect.model.values import canonical
from otel_toolselect.preflight.files import Check, Plan
from otel_toolselect.preflight.pins import Pins
from otel_toolselect.rules import Policy


def inspect(plan: Plan, offers: Sequence[Offer], pins: Pins | None) -> tuple[Concern, ...]:
    """Concerns about the offers, in the order of the file's servers. `pins` None: nothing was pinned."""
    found: list[Concern] = []
    for offer in offers:
        if offer.failure is not None:
            found.append(Concern("unreachable", "error", offer.server, "", offer.failure))
            continue
        for tool in offer.tools:
            found += _schema(offer.server, tool)
            found += _hints(offer.server, tool, plan.policy)
        if pins is not None:
            found += _drift(offer, pins)
        found += _unchecked(offer, plan.checks)
    return (*found, *_collisions(offers), *_gone(offers, pins or {}))


def _collisions(offers: Sequence[Offer]) -> Iterator[Concern]:
    owners: dict[str, list[str]] = defaultdict(list)
    for offer in offers:
        for tool in offer.tools:
            owners[tool.name].append(offer.server)
    for name, servers in sorted(owners.items()):
        if len(servers) > 1:
            yield Concern("collision", "warning", servers[0], name, f"also offered by {', '.join(servers[1:])}")


def _schema(server: str, tool: OfferedTool) -> Iterator[Concern]:
    for what, schema in (("parameters", tool.definition.schema), ("output", tool.output_schema)):
        if schema is None:
            continue
        problem = _malformed(schema)
        if problem is not None:
            yield Concern("schema", "error", server, tool.name, f"the {what} are no JSON Schema: {problem}")
    schema = tool.definition.schema
    if schema is None:
        yield Concern("schema", "warning", server, tool.name, "no schema: the model must guess the arguments")
        return
    if schema.get("type", "object") != "object":
        said = f"the parameters are of type {schema.get('type')!r}, not an object"
        yield Concern("schema", "error", server, tool.name, said)
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    missing = [name for name in required if name not in known] if isinstance(required, list) else []
    if missing and schema.get("additionalProperties", True) is False:
        said = f"required and not a property: {', '.join(map(str, missing))}; no call can be right"
        yield Concern("schema", "error", server, tool.name, said)
    bare = sorted(str(name) for name, one in known.items() if not _described(one))
    if bare:
        said = f"parameters without a description: {', '.join(bare)}"
        yield Concern("schema", "note", server, tool.name, said)
    if not tool.definition.description.strip():
        yield Concern(
            "schema", "warning", server, tool.name, "no description: the model has only the name to choose by"
        )


def _described(schema: Any) -> bool:
    return not isinstance(schema, dict) or bool(schema.keys() & {"description", "enum", "const", "$ref"})


def _malformed(schema: dict[str, Any]) -> str | None:
    try:
        jsonschema_rs.validator_for(schema, validate_formats=False, retriever=_nothing)
    except jsonschema_rs.ValidationError as error:
        return str(error).splitlines()[0]
    except (ValueError, TypeError) as error:
        return str(error).splitlines()[0]
    return None


def _nothing(address: str) -> Any:
    """Nothing is fetched."""
    raise ValueError(f"{address} is not looked up")


def _hints(server: str, tool: OfferedTool, policy: Policy) -> Iterator[Concern]:
    hints = tool.hints
    if hints is None:
        return
    effect = policy.effect_of(policy.canonical(tool.name))
    if hints.read_only is None:
        said = "no readOnlyHint: clients must take it for a tool that may change something"
        yield Concern("hint", "warning", server, tool.name, said)
    elif hints.read_only and effect == "write":
        yield Concern("hint", "error", server, tool.name, "says that it only reads; the policy says that it writes")
    elif not hints.read_only and effect == "read":
        yield Concern("hint", "warning", server, tool.name, "does not say that it only reads; the policy does")
    if hints.read_only and hints.destructive:
        yield Concern("hint", "warning", server, tool.name, "says that it only reads, and that it destroys")
    if hints.read_only is False and hints.destructive is None:
        said = "no destructiveHint: clients must take its changes for ones that cannot be undone"
        yield Concern("hint", "warning", server, tool.name, said)


def _drift(offer: Offer, pins: Pins) -> Iterator[Concern]:
    before = {tool.name: tool for tool in pins.get(offer.server, ())}
    after = {tool.name: tool for tool in offer.tools}
    for name in sorted(after.keys() - before.keys()):
        yield Concern("drift", "error", offer.server, name, "new since it was pinned")
    for name in sorted(before.keys() - after.keys()):
        yield Concern("drift", "error", offer.server, name, "gone since it was pinned")
    for name in sorted(before.keys() & after.keys()):
        what = list(_changed(before[name], after[name]))
        if what:
            said = f"{', '.join(part for part, _ in what)} changed since it was pinned"
            yield Concern("drift", "error", offer.server, name, said, details=tuple(line for _, line in what))


def _changed(before: OfferedTool, after: OfferedTool) -> Iterator[tuple[str, str]]:
    """What changed, and how, as a line with both."""
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("description", before.definition.description, after.definition.description),
        ("parameters", before.definition.schema, after.definition.schema),
        ("output", before.output_schema, after.output_schema),
        ("hints", _plain(before.hints), _plain(after.hints)),
    )
    for name, old, new in pairs:
        if canonical(old) != canonical(new):
            yield name, f"{name}: {canonical(old)} -> {canonical(new)}"


def _plain(hints: Hints | None) -> dict[str, bool | None] | None:
    if hints is None:
        return None
    return {
        "read_only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open_world": hints.open_world,
    }


def _gone(offers: Sequence[Offer], pins: Pins) -> Iterator[Concern]:
    for server in sorted(pins.keys() - {offer.server for offer in offers}):
        yield Concern("drift", "error", server, "", "pinned, and not among the servers of the file")


def _unchecked(offer: Offer, checks: Sequence[Check]) -> Iterator[Concern]:
    called = {check.tool for check in checks if check.server in ("", offer.server)}
    for tool in offer.tools:
        if tool.name not in called:
            yield Concern("unchecked", "note", offer.server, tool.name, "no check calls it")
