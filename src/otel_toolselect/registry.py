"""Plug-ins: found by scanning a package and by entry points, never listed by hand (design section 2).

A plug-in package holds one module per plug-in; each public module (no leading underscore) defines exactly one
`PLUGIN`, an object with a unique string attribute `name`. Packages outside the project join through the entry
point group named like the package (say `otel_toolselect.dialects`), each entry naming such an object.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Protocol


class Named(Protocol):
    @property
    def name(self) -> str: ...


class PluginError(RuntimeError):
    """A plug-in package is put together wrongly: a mistake of a programmer, not of a user."""


@cache
def discover(package: str) -> dict[str, Any]:
    """All plug-ins of a package by name, sorted by name. Raises PluginError on a missing or doubled name."""
    root = importlib.import_module(package)
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(root.__path__):
        if not info.name.startswith("_"):
            _add(found, importlib.import_module(f"{package}.{info.name}"))
    group = package
    for entry in entry_points(group=group):
        _register(found, entry.load(), where=f"entry point {entry.name}")
    return dict(sorted(found.items()))


def _add(found: dict[str, Any], module: ModuleType) -> None:
    plugin = getattr(module, "PLUGIN", None)
    if plugin is None:
        raise PluginError(f"{module.__name__} defines no PLUGIN; a helper module's name begins with an underscore")
    _register(found, plugin, where=module.__name__)


def _register(found: dict[str, Any], plugin: Named, *, where: str) -> None:
    name = getattr(plugin, "name", None)
    if not isinstance(name, str) or not name:
        raise PluginError(f"{where}: PLUGIN has no name")
    if name in found:
        raise PluginError(f"{where}: the name {name!r} is taken")
    found[name] = plugin
