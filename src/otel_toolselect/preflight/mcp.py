"""MCP servers over stdio and streamable HTTP, by the official SDK (extra `preflight`)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import IO, TYPE_CHECKING, Any

from otel_toolselect.errors import UsageError
from otel_toolselect.model.preflight import Hints, OfferedTool
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.preflight.files import Server

if TYPE_CHECKING:
    import mcp
    from mcp.types import CallToolResult, Tool

_PAGES = 1_000
_TOLD = 4_096
_INHERITED = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH", "TMPDIR")


class _Line:
    def __init__(self, client: mcp.Client) -> None:
        self._client = client
        self._wrapped: set[str] = set()

    async def tools(self) -> tuple[OfferedTool, ...]:
        found: list[OfferedTool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += [self._tool(tool) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)
        raise ValueError(f"the list of tools has more than {_PAGES} pages")

    def _tool(self, tool: Tool) -> OfferedTool:
        said = tool.annotations
        declared = tool.output_schema
        # how servers make an object of what is none; the contract speaks of what the tool returned
        inner = (declared or {}).get("properties")
        if isinstance(inner, dict) and list(inner) == ["result"]:
            self._wrapped.add(tool.name)
            declared = inner["result"] if isinstance(inner["result"], dict) else None
        return OfferedTool(
            ToolDefinition(tool.name, tool.description or "", tool.input_schema),
            Hints(said.read_only_hint, said.destructive_hint, said.idempotent_hint, said.open_world_hint)
            if said is not None
            else Hints(),
            declared,
        )

    async def call(self, tool: str, args: dict[str, Any]) -> tuple[bool, Any]:
        from mcp.types import CallToolResult

        result = await self._client.call_tool(tool, args)
        if not isinstance(result, CallToolResult):
            raise TypeError(f"the tool asks for {type(result).__name__} instead of answering")
        value = _value(result)
        if tool in self._wrapped and isinstance(value, dict) and list(value) == ["result"]:
            value = value["result"]
        return not result.is_error, value


def _value(result: CallToolResult) -> Any:
    """The structured content; else the text, read as JSON where it is a JSON object or list."""
    if result.structured_content is not None and not result.is_error:
        return result.structured_content
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


@asynccontextmanager
async def connected(server: Server, timeout_s: float) -> AsyncIterator[_Line]:
    """A session with the server while the block lasts. A command is ended with it.

    Raises ConnectionError with the last line of its stderr when it ends without an answer.
    """
    try:
        import mcp
    except ImportError as error:
        raise UsageError("MCP servers need the MCP SDK: pip install 'otel-toolselect[preflight]'") from error
    async with AsyncExitStack() as stack:
        target: Any
        said: IO[str] | None = None
        if server.command:
            from mcp.client.stdio import StdioServerParameters, stdio_client

            said = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace"))  # noqa: SIM115
            inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
            command, *args = server.command
            target = stdio_client(
                StdioServerParameters(command=command, args=args, env={**inherited, **server.env}, cwd=server.cwd),
                errlog=said,
            )
        else:
            from mcp.client.streamable_http import streamable_http_client
            from mcp.shared._httpx_utils import create_mcp_http_client

            http = await stack.enter_async_context(create_mcp_http_client(headers=dict(server.headers)))
            target = streamable_http_client(server.url, http_client=http)
        try:
            client = await stack.enter_async_context(mcp.Client(target, read_timeout_seconds=timeout_s))
        except Exception as error:
            if words := _last_words(said, server):
                raise ConnectionError(f"the command ended, saying: {words}") from error
            raise
        yield _Line(client)


def _last_words(said: IO[str] | None, server: Server) -> str:
    """The last line of a command's stderr, where the reason mostly stands, without the values of its environment."""
    if said is None:
        return ""
    said.seek(max(0, said.seek(0, os.SEEK_END) - _TOLD))
    line = next((line for line in reversed(said.read().splitlines()) if line.strip()), "").strip()
    for value in server.env.values():
        line = line.replace(value, "***") if value else line
    return line[:300]
