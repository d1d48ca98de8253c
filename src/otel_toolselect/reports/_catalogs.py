"""Catalogs, their differences and what is suspicious in them, for people and for programs (R46)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from otel_toolselect.model.catalogs import Catalog, CatalogDiff, Suspicion
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps, short
from otel_toolselect.reports._records import timestamp
from otel_toolselect.reports._words import count

ID_LENGTH = 12


def brief(catalog_id: str) -> str:
    return catalog_id.removeprefix("sha256:")[:ID_LENGTH]


def catalogs_table(found: Sequence[Catalog], *, colour: bool, width: int) -> str:
    """One row per catalog, then its tools."""

    def blocks() -> Iterator[Block]:
        yield Heading(count(len(found), "catalog"))
        titles = ("catalog", "tools", "runs", "first seen", "last seen", "agents", "models")
        rows = [
            tuple(map(Cell, (brief(c.id), str(len(c.tools)), str(c.runs), *_seen(c), _list(c.agents), _list(c.models))))
            for c in found
        ]
        if rows:
            yield Grid(tuple(Column(t, right=t in ("tools", "runs")) for t in titles), tuple(rows))
        for catalog in found:
            yield Heading(f"catalog {brief(catalog.id)}")
            room = max(40, width - 34)
            tools = tuple((Cell(t.name, "bold"), Cell(short(t.description, room))) for t in catalog.tools)
            if tools:
                yield Grid((Column("tool"), Column("description")), tools)

    return paint(blocks(), colour=colour, width=width)


def _seen(catalog: Catalog) -> tuple[str, str]:
    first, last = ((timestamp(ns) or "")[:16] for ns in (catalog.first_ns, catalog.last_ns))
    return first, last


def _list(names: Sequence[str]) -> str:
    return short(", ".join(names), 40)


def catalogs_json(found: Sequence[Catalog]) -> str:
    records = [
        {
            "id": c.id,
            "runs": c.runs,
            "agents": c.agents,
            "models": c.models,
            "first_seen": timestamp(c.first_ns),
            "last_seen": timestamp(c.last_ns),
            "tools": [_tool(tool) for tool in c.tools],
        }
        for c in found
    ]
    return dumps({"schema": "toolselect.catalogs/1", "catalogs": records}, indent=2) + "\n"


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "schema": tool.schema}


def diff_table(found: CatalogDiff, *, colour: bool, width: int) -> str:
    def blocks() -> Iterator[Block]:
        ends = f"{brief(found.before.id)} -> {brief(found.after.id)}"
        counts = f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed"
        yield Heading(f"{ends}: {counts}, {found.same} the same")
        for mark, tools in (("+", found.added), ("-", found.removed)):
            for tool in tools:
                yield Line(f"{mark} {tool.name}: {short(tool.description, 200)}", "good" if mark == "+" else "bad")
        for change in found.changed:
            yield Line(f"~ {change.name} ({', '.join(change.what)})", "bold")
            for part in change.what:
                before, after = (getattr(tool, part) for tool in (change.before, change.after))
                yield Line(f"- {short(before, 600)}", "bad", indent=4)
                yield Line(f"+ {short(after, 600)}", "good", indent=4)

    return paint(blocks(), colour=colour, width=width)


def diff_json(found: CatalogDiff) -> str:
    changed = [
        {"name": c.name, "what": c.what, "before": _tool(c.before), "after": _tool(c.after)} for c in found.changed
    ]
    document = {
        "schema": "toolselect.catalog-diff/1",
        "before": found.before.id,
        "after": found.after.id,
        "added": [_tool(tool) for tool in found.added],
        "removed": [_tool(tool) for tool in found.removed],
        "changed": changed,
        "same": found.same,
    }
    return dumps(document, indent=2) + "\n"


def suspicions_table(found: Sequence[Suspicion], catalogs: int, *, colour: bool, width: int) -> str:
    """Each suspicion with the texts that it is about, one below the other under the same indent."""

    def blocks() -> Iterator[Block]:
        warnings = sum(one.severity == "warning" for one in found)
        notes = len(found) - warnings
        yield Heading(f"{count(catalogs, 'catalog')}: {count(warnings, 'warning')}, {count(notes, 'note')}")
        for one in found:
            about = f" {', '.join(one.tools)}" if one.tools else f" catalog {', '.join(map(brief, one.catalogs[:5]))}"
            style: Style = "bad" if one.severity == "warning" else "warn"
            yield Line(f"{one.severity} [{one.kind}]{about}: {one.message}", style)
            yield from (Line(f"{title}: {short(text, 600)}", "dim", indent=4) for title, text in one.texts)

    return paint(blocks(), colour=colour, width=width)


def suspicions_json(found: Sequence[Suspicion], catalogs: int) -> str:
    records = [
        {
            "kind": one.kind,
            "severity": one.severity,
            "tools": one.tools,
            "message": one.message,
            "texts": [{"title": title, "text": text} for title, text in one.texts],
            "figures": one.figures,
            "catalogs": one.catalogs,
        }
        for one in found
    ]
    return dumps({"schema": "toolselect.catalog-lint/1", "catalogs": catalogs, "suspicions": records}, indent=2) + "\n"
