"""Model Context Protocol: client and server spans of `tools/call`, by the MCP semantic conventions.

Spec: semantic-conventions-genai, "Model Context Protocol". One call gives up to three spans (client library, client
SDK, server), often across processes; the client SDK's own span names the tool in its span name only.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects.genai import read_tool
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.spans import KIND_CLIENT, KIND_SERVER

METHOD = "mcp.method.name"
_CALL = "tools/call"
_SIDES: dict[int, Literal["client", "server"]] = {KIND_CLIENT: "client", KIND_SERVER: "server"}
_FRAMEWORK = "MCP libraries record no content: instrument the agent that calls the server too"


def _name(source: Source) -> str:
    """The tool's name: the attribute, else what follows the method in the span's name."""
    known = coerce.string(source.get("gen_ai.tool.name"))
    return known or source.span.name.rpartition(_CALL)[2].strip() or source.span.name


@dataclass(frozen=True)
class MCP:
    name: str = "mcp"
    priority: int = 20
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _FRAMEWORK,
            "results": _FRAMEWORK,
            "request": _FRAMEWORK,
            "catalog": _FRAMEWORK,
            "ids": "MCP has no call ids; calls are tied by name and order",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return METHOD in keys

    def read(self, source: Source) -> Observation:
        if source.get(METHOD) != _CALL:
            return Observation(source.span, self.name, "other")
        read = read_tool(source, self.name, name=_name(source))
        if read.tool is None:
            return read
        server = coerce.string(source.first("mcp.server.name", "fastmcp.server.name"))
        use = replace(read.tool, server=read.tool.server or server, side=_SIDES.get(source.span.kind))
        # a session id of the transport groups nothing: some servers change it with every request
        return replace(read, tool=use, conversation_id=coerce.identifier(source.get("gen_ai.conversation.id")))


PLUGIN = MCP()
