"""Tools that are functions of a Python module: each public function that the module defines is one."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from otel_toolselect.model.preflight import OfferedTool
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.preflight.files import Server


class _Line:
    def __init__(self, found: dict[str, Callable[..., Any]]) -> None:
        self._found = found

    async def tools(self) -> tuple[OfferedTool, ...]:
        return tuple(
            OfferedTool(ToolDefinition(name, inspect.getdoc(function) or "", _parameters(function)))
            for name, function in sorted(self._found.items())
        )

    async def call(self, tool: str, args: dict[str, Any]) -> tuple[bool, Any]:
        """An exception is the tool's error, as it is for the agents that call such functions."""
        function = self._found[tool]
        try:
            if inspect.iscoroutinefunction(function):
                return True, await function(**args)
            return True, await asyncio.to_thread(function, **args)
        except Exception as error:  # noqa: BLE001 - a user's function
            return False, f"{type(error).__name__}: {error}"


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Names, and which must be given; types stay open."""
    parameters = inspect.signature(function).parameters.values()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {
        "type": "object",
        "properties": {p.name: True for p in named},
        "required": [p.name for p in named if p.default is p.empty],
        "additionalProperties": any(p.kind is p.VAR_KEYWORD for p in parameters),
    }


@asynccontextmanager
async def functions(server: Server) -> AsyncIterator[_Line]:
    """The module is imported from the folder of the file, or from where Python finds it."""
    sys.path.insert(0, server.cwd or ".")
    try:
        module = importlib.import_module(server.python)
    finally:
        sys.path.remove(server.cwd or ".")
    yield _Line(
        {
            name: value
            for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
        }
    )
