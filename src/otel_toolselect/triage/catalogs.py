"""Catalogs out of runs, and the difference of two (R46). A catalog is known by its id, the digest of its tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from otel_toolselect.errors import UsageError
from otel_toolselect.model.catalogs import Catalog, CatalogDiff, ToolChange
from otel_toolselect.model.runs import Run, ToolDefinition
from otel_toolselect.model.values import canonical


def catalogs(runs: Iterable[Run]) -> tuple[Catalog, ...]:
    """Every catalog that a run was offered, most used first. Runs without a recorded catalog do not count."""
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.tools is not None and run.catalog_id is not None:
            found[run.catalog_id].append(run)
    made = [_catalog(name, offered) for name, offered in found.items()]
    return tuple(sorted(made, key=lambda c: (-c.runs, c.id)))


def _catalog(name: str, runs: Sequence[Run]) -> Catalog:
    # the id covers the definitions, whose order may differ; the smallest spelling is taken, whatever the order of runs
    tools = min((tuple(sorted(run.tools or (), key=_spelled)) for run in runs), key=lambda t: [_spelled(x) for x in t])
    starts = [run.start_ns for run in runs if run.start_ns]
    return Catalog(
        id=name,
        tools=tools,
        runs=len(runs),
        agents=tuple(sorted({run.agent or run.service for run in runs} - {""})),
        models=tuple(sorted({run.model for run in runs if run.model})),
        first_ns=min(starts, default=0),
        last_ns=max(starts, default=0),
    )


def _spelled(tool: ToolDefinition) -> tuple[str, str, str]:
    return tool.name, tool.description, canonical(tool.schema)


def chosen(found: Sequence[Catalog], prefix: str) -> Catalog:
    """The catalog whose id begins so, with or without `sha256:`. Raises UsageError that lists what there is."""
    wanted = prefix.removeprefix("sha256:")
    fitting = [c for c in found if wanted and c.id.removeprefix("sha256:").startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(c.id.removeprefix("sha256:")[:12] for c in found[:10]) or "none: no run here recorded its tools"
    problem = "is no catalog here" if not fitting else f"fits {len(fitting)} catalogs; write more of it"
    raise UsageError(f"{prefix!r} {problem} (there are: {known})")


def diff(before: Catalog, after: Catalog) -> CatalogDiff:
    """What changed, tool by tool, by name."""
    old, new = ({tool.name: tool for tool in catalog.tools} for catalog in (before, after))
    changed = [_change(old[name], new[name]) for name in sorted(old.keys() & new.keys())]
    return CatalogDiff(
        before=before,
        after=after,
        added=tuple(new[name] for name in sorted(new.keys() - old.keys())),
        removed=tuple(old[name] for name in sorted(old.keys() - new.keys())),
        changed=tuple(change for change in changed if change.what),
        same=sum(not change.what for change in changed),
    )


def _change(old: ToolDefinition, new: ToolDefinition) -> ToolChange:
    parts = {
        "description": old.description != new.description,
        "schema": canonical(old.schema) != canonical(new.schema),
    }
    return ToolChange(new.name, tuple(name for name, differs in parts.items() if differs), old, new)
