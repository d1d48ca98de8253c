"""The pinned catalog: what was offered when somebody looked at it and said yes. JSON, to be committed beside the suite.

{"schema": "toolselect.pins/1", "servers": {"orders": {"catalog": "sha256:...", "tools": [
  {"name": ..., "description": ..., "schema": ..., "output_schema": ..., "hints": {"read_only": true}}]}}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias

from otel_toolselect.assemble import catalog_id
from otel_toolselect.errors import InputError
from otel_toolselect.model.preflight import Hints, Offer, OfferedTool
from otel_toolselect.model.runs import ToolDefinition

SCHEMA = "toolselect.pins/1"
Pins: TypeAlias = Mapping[str, tuple[OfferedTool, ...]]
"""Tools by server."""


def written(offers: Iterable[Offer]) -> str:
    """The file for these offers; the same offers give the same text, in whatever order they came."""
    servers = {
        offer.server: {
            "catalog": catalog_id(tuple(tool.definition for tool in offer.tools)),
            "tools": [_record(tool) for tool in sorted(offer.tools, key=lambda t: t.name)],
        }
        for offer in sorted(offers, key=lambda o: o.server)
    }
    return json.dumps({"schema": SCHEMA, "servers": servers}, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _record(tool: OfferedTool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": tool.name,
        "description": tool.definition.description,
        "schema": tool.definition.schema,
    }
    if tool.output_schema is not None:
        record["output_schema"] = tool.output_schema
    if tool.hints is not None:
        record["hints"] = {name: value for name, value in asdict(tool.hints).items() if value is not None}
    return record


def read_pins(path: str) -> Pins:
    """Raises InputError for what is not such a file."""
    try:
        document = json.loads(Path(path).read_bytes())
    except OSError as error:
        reason = f"cannot be read: {error.strerror}; `toolselect preflight FILE --pin` writes it"
        raise InputError(reason, where=path) from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", where=path) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(f"not a pinned catalog (schema {SCHEMA})", where=path)
    try:
        return {
            server: tuple(_tool(tool) for tool in offered["tools"]) for server, offered in document["servers"].items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"damaged: {error!r}; write it again with --pin", where=path) from None


def _tool(record: Mapping[str, Any]) -> OfferedTool:
    hints = record.get("hints")
    known = {f.name for f in fields(Hints)}
    return OfferedTool(
        ToolDefinition(record["name"], record["description"], record["schema"]),
        None if hints is None else Hints(**{name: value for name, value in hints.items() if name in known}),
        record.get("output_schema"),
    )
