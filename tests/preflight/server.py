"""An MCP server for tests, by the official SDK: `python server.py` over stdio, `python server.py http` on a free port,
which it prints. `CHANGED=1` in the environment: other tools than before.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("shop")
stock = ["headphones", "radio"]


@server.tool(annotations=ToolAnnotations(read_only_hint=True), description="Finds orders by a word.")
def find_orders(query: str) -> dict[str, Any]:
    if not query:
        raise ToolError("query must not be empty")
    return {"orders": [name for name in stock if query in name], "count": sum(query in name for name in stock)}


@server.tool(description="Refunds an order.")
def refund_order(order: str) -> str:
    return f"refunded {order} for {os.environ.get('SHOP_KEY', 'nobody')}"


@server.tool(annotations=ToolAnnotations(read_only_hint=False), description="A number that differs each time.")
async def lottery() -> int:
    stock.append("x")
    return len(stock)


if os.environ.get("CHANGED"):

    @server.tool(annotations=ToolAnnotations(read_only_hint=True), description="New.")
    def newcomer() -> str:
        return "hello"


def main() -> None:
    if "http" not in sys.argv:
        server.run("stdio")
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print(port, flush=True)
    server.run("streamable-http", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
