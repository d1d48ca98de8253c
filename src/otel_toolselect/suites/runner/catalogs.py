"""Tool definitions from files, and those that a case pins (R18).

A file is JSON: a list of definitions, or an object with `tools` (and perhaps `system`, `model`, `provider`) as the
example suites and MCP's `tools/list` have it; or what `toolselect catalog list --format json` writes, all of whose
catalogs count. A definition is in OpenAI's form (`{"type": "function", "function":
{...}}`) or flat: `name`, `description`, and its schema as `parameters`, `input_schema`, `inputSchema` or `schema`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_toolselect.assemble import catalog_id
from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.runner.plan import Attempt

_SCHEMAS = ("parameters", "input_schema", "inputSchema", "schema")


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools in the order in which they are offered, and the instructions that go with them."""

    tools: tuple[ToolDefinition, ...]
    system: str | None = None
    model: str | None = None
    provider: str | None = None


def read_offer(path: str) -> Offer:
    """The first of a file. Raises InputError with the path."""
    return read_offers(path)[0]


def read_offers(path: str) -> tuple[Offer, ...]:
    """Raises InputError with the path."""
    try:
        value = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=path) from error
    catalogs = value.get("catalogs") if isinstance(value, dict) else None
    if isinstance(catalogs, list) and catalogs:
        return tuple(_offer(catalog, path) for catalog in catalogs)
    return (_offer(value, path),)


def _offer(value: Any, path: str) -> Offer:
    about = value if isinstance(value, dict) else {}
    listed = about.get("tools", about.get("result", {}).get("tools")) if about else value
    if not isinstance(listed, list) or not listed:
        raise InputError('holds no tools: write a list of definitions, or {"tools": [...]}', where=path)
    texts = {k: about[k] for k in ("system", "model", "provider") if isinstance(about.get(k), str)}
    return Offer(read_tools(listed, path), **texts)


def read_tools(listed: Sequence[Any], where: str) -> tuple[ToolDefinition, ...]:
    """Raises InputError naming the entry that is no definition, or a name that stands twice."""
    found: dict[str, ToolDefinition] = {}
    for i, item in enumerate(listed):
        about = item.get("function", item) if isinstance(item, dict) else {}
        name = about.get("name") if isinstance(about, dict) else None
        if not isinstance(name, str) or not name:
            raise InputError(f"tool {i + 1} has no name", where=where)
        if name in found:
            raise InputError(f"the tool {name!r} stands twice", where=where)
        schema = next((about[k] for k in _SCHEMAS if isinstance(about.get(k), dict)), None)
        found[name] = ToolDefinition(name, str(about.get("description") or ""), schema)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class PinnedCatalog:
    """Offers what the case pins: names out of all known definitions, or the catalog of that id; else the first file.

    `aliases`: canonical names by the name that a definition bears.
    """

    offers: tuple[Offer, ...]
    aliases: tuple[tuple[str, str], ...] = ()

    def offered(self, attempt: Attempt) -> tuple[ToolDefinition, ...]:
        case = attempt.case
        if case.catalog is not None:
            for offer in self.offers:
                if catalog_id(offer.tools) == case.catalog:
                    return offer.tools
            raise UsageError(f"the case {case.id} pins {case.catalog[:19]}…, which no --catalog file holds")
        if case.tools is None:
            return self.offers[0].tools
        canonical = dict(self.aliases)
        known: dict[str, ToolDefinition] = {}
        for offer in self.offers:
            for tool in offer.tools:
                known.setdefault(canonical.get(tool.name, tool.name), tool)
        missing = [name for name in case.tools if name not in known]
        if missing:
            raise UsageError(f"the case {case.id} pins {', '.join(missing)}, which no --catalog file defines")
        return tuple(known[name] for name in case.tools)
