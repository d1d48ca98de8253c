"""Which MCP server a tool is of: a name is unique per server only, so a tool's identity is `server/name` (design
section 4).

Prefixing is a habit of clients, and each has its own: `mcp__web__search`, `web_search`, `web/search`, `search`. A suite
that lists its servers and their tools gives every spelling its readings beforehand; a spelling with two readings is
ambiguous, and is said to be, never decided by a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_toolselect.rules._nodes import Fields, Items, Node, clip, kind_of
from otel_toolselect.rules.problems import Problems

_MARKS = ("", "mcp__", "mcp_", "mcp.", "mcp-", "mcp/", "mcp:")
_SEPARATORS = ("/", "__", "_", ".", "-", ":")


@dataclass(frozen=True, slots=True)
class Servers:
    """Tools by server. `spellings`: for each way to write a tool, the tools that it may mean."""

    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def identities(self) -> tuple[str, ...]:
        return tuple(f"{server}/{tool}" for server, tools in self.offered.items() for tool in tools)

    def readings(self, name: str, server: str | None) -> tuple[str, ...]:
        """What a name in a trace may mean; `server` is the one that the trace names. Empty: no listed server has it."""
        if server is not None and name in self.offered.get(server, ()):
            return (f"{server}/{name}",)
        return self.spellings.get(name, ())


def known_servers(offered: Mapping[str, tuple[str, ...]]) -> Servers:
    found: dict[str, dict[str, None]] = {}
    for server, tools in offered.items():
        for tool in tools:
            identity = f"{server}/{tool}"
            found.setdefault(tool, {})[identity] = None
            for mark in _MARKS:
                for separator in _SEPARATORS:
                    found.setdefault(f"{mark}{server}{separator}{tool}", {})[identity] = None
    return Servers(offered, {spelling: tuple(sorted(names)) for spelling, names in found.items()})


def parse_servers(node: Node, problems: Problems) -> Servers:
    """`servers: {web: [search, fetch]}`."""
    if not isinstance(node, Fields):
        problems.add(node, f"policy.servers must be a mapping, not {kind_of(node)}", "write SERVER: [TOOL, ...]")
        return Servers()
    offered: dict[str, tuple[str, ...]] = {}
    for key, value in node.entries:
        if not isinstance(value, Items):
            what = f"the tools of server {clip(key.text, 40)!r}"
            problems.add(value, f"{what} must be a list, not {kind_of(value)}", "write [TOOL, ...]")
            continue
        names = [problems.text(item, f"a tool of server {clip(key.text, 40)!r}") for item in value.items]
        offered[key.text] = tuple(n for n in names if n is not None)
    return known_servers(offered)
