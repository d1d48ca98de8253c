"""The `policy` of a suite: effects and risks of tools, aliases (R5), infrastructure errors (R36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import is_
from typing import Any, NamedTuple

from otel_toolselect.model.runs import NO_CALL_LABELS, ToolDefinition
from otel_toolselect.model.values import digest
from otel_toolselect.rules._nodes import Fields, Node, clip, kind_of
from otel_toolselect.rules.infra import parse_infra
from otel_toolselect.rules.patterns import Pattern
from otel_toolselect.rules.problems import Problems, suggest
from otel_toolselect.rules.servers import Servers, parse_servers

EFFECTS = ("read", "write", "metadata", "handoff")
# spellings of tool names kept per policy, and their characters: hostile traces have new and long ones without end
_REMEMBERED, _LONGEST = 20_000, 512
_CATALOGS = 256
HARMLESS = frozenset({"metadata", "handoff"})  # never the first consequential action (R4)


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """`effect` None: not declared, treated as possibly changing something. `risk` is a word of the author's.

    `retired`: the tool is gone, and cases that used to want it expect a refusal (R9).
    """

    effect: str | None = None
    risk: str | None = None
    retired: bool = False


class Reading(NamedTuple):
    """A tool's name under a policy. `ambiguous`: the tools that it may mean when that is not clear."""

    name: str
    ambiguous: tuple[str, ...]
    effect: str | None
    consequential: bool
    mutating: bool


@dataclass(frozen=True, slots=True)
class Policy:
    """What tools do, which names are one tool, which failures are the platform's. `version` is kept in each verdict.

    `version` is the suite's own version and a digest of the policy's content: an edit without a new number shows.
    """

    tools: Mapping[str, ToolPolicy] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    servers: Servers = field(default_factory=Servers)
    infra_errors: tuple[str, ...] = ()
    infra: tuple[Pattern, ...] = field(default=(), compare=False, repr=False)
    version: str = ""
    retired: frozenset[str] = field(init=False, compare=False, repr=False)
    _known: dict[tuple[str, str | None], Reading] = field(default_factory=dict, compare=False, repr=False)
    _offers: dict[int, tuple[Any, Mapping[str, Any]]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        # worked out once: every case of a suite asks for it
        object.__setattr__(self, "retired", frozenset(n for n, tool in self.tools.items() if tool.retired))

    def canonical(self, name: str) -> str:
        return self.aliases.get(name, name)

    def resolve(self, name: str, server: str | None = None) -> tuple[str, tuple[str, ...]]:
        """The canonical name of a tool as a trace spells it, and the tools that it may mean when that is not clear."""
        readings = self.servers.readings(name, server)
        if len(readings) > 1:
            return name, readings
        return self.canonical(readings[0] if readings else name), ()

    def read(self, name: str, server: str | None) -> Reading:
        """What the policy makes of a tool's name in a trace; worked out once per spelling, for names repeat."""
        found = self._known.get((name, server))
        if found is None:
            canonical, ambiguous = self.resolve(name, server)
            effect = self.effect_of(canonical)
            mutating = effect is None or effect == "write"
            found = Reading(canonical, ambiguous, effect, effect not in HARMLESS, mutating)
            if len(self._known) < _REMEMBERED and len(name) + len(server or "") <= _LONGEST:
                self._known[name, server] = found
        return found

    def offered(self, tools: tuple[ToolDefinition, ...]) -> Mapping[str, Any]:
        """Schemas (or None) of offered tools by canonical name; worked out once per catalog, for runs share them."""
        found = self._offers.get(id(tools))
        if found is None:
            if len(self._offers) >= _CATALOGS:
                self._offers.clear()
            # the tuple is kept beside, so that its id names nothing else meanwhile
            found = self._offers[id(tools)] = _alike(tools, {self.resolve(t.name)[0]: t.schema for t in tools})
        return found[1]

    def effect_of(self, name: str) -> str | None:
        known = self.tools.get(name)
        return known.effect if known is not None else None


_offers: dict[int, tuple[tuple[ToolDefinition, ...], Mapping[str, Any]]] = {}


def _alike(
    tools: tuple[ToolDefinition, ...], offered: Mapping[str, Any]
) -> tuple[tuple[ToolDefinition, ...], Mapping[str, Any]]:
    """What a policy makes of a catalog, as the object that another policy made of it if that is the same (see
    `view.Looks.seen`).
    """
    known = _offers.get(id(tools))
    if known is not None and known[0] is tools and _same(known[1], offered):
        return known
    if len(_offers) >= _CATALOGS:
        _offers.clear()
    found = _offers[id(tools)] = tools, offered
    return found


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """One order, and the very same schemas: nothing that looks at either can tell them apart."""
    return list(a) == list(b) and all(map(is_, a.values(), b.values()))


_KEYS = ("tools", "aliases", "servers", "infra_errors")


def parse_policy(node: Node | None, version: str, problems: Problems) -> Policy:
    """The policy; an absent one is empty (no tool has a known effect, any name may be used)."""
    found = problems.fields(node, "policy", _KEYS) if node is not None else {}
    found = found or {}
    tools = _tools(found["tools"][1], problems) if "tools" in found else {}
    servers = parse_servers(found["servers"][1], problems) if "servers" in found else Servers()
    tools = {**{name: ToolPolicy() for name in servers.identities}, **tools}
    aliases = _aliases(found["aliases"][1], tools, problems) if "aliases" in found else {}
    infra_node = found["infra_errors"][1] if "infra_errors" in found else None
    infra = parse_infra(infra_node, problems) if infra_node is not None else ()
    names = tuple(p.pattern for p in infra)
    content = {
        "tools": {name: [t.effect, t.risk, *(["retired"] if t.retired else [])] for name, t in tools.items()},
        "aliases": dict(aliases),
        "servers": {server: list(names) for server, names in servers.offered.items()},
        "infra": sorted(names),
    }
    mark = digest(content).removeprefix("sha256:")[:12]
    return Policy(tools, aliases, servers, names, infra, f"{version}@{mark}" if version else mark)


def _tools(node: Node, problems: Problems) -> dict[str, ToolPolicy]:
    if not isinstance(node, Fields):
        problems.add(node, f"policy.tools must be a mapping, not {kind_of(node)}", "write NAME: {effect: read}")
        return {}
    tools: dict[str, ToolPolicy] = {}
    for key, value in node.entries:
        name = key.text
        if name in NO_CALL_LABELS or name.startswith("effect:"):
            problems.add(key, f"a tool cannot be called {clip(name)!r}: the word is taken by the vocabulary")
        what = f"the policy of {clip(name, 40)!r}"
        if not isinstance(value, Fields):
            problems.add(value, f"{what} must be a mapping, not {kind_of(value)}", "write {effect: read}")
            tools[name] = ToolPolicy()
            continue
        found = problems.fields(value, what, ("effect", "risk", "retired")) or {}
        effect = problems.choice(found["effect"][1], "effect", EFFECTS) if "effect" in found else None
        risk = problems.text(found["risk"][1], "risk") if "risk" in found else None
        retired = problems.boolean(found["retired"][1], "retired") if "retired" in found else False
        tools[name] = ToolPolicy(effect, risk, bool(retired))
    return tools


def _aliases(node: Node, tools: Mapping[str, ToolPolicy], problems: Problems) -> dict[str, str]:
    """alias -> canonical name. An alias that is declared as a tool too must have the same effect and risk (R5)."""
    if not isinstance(node, Fields):
        problems.add(node, f"policy.aliases must be a mapping, not {kind_of(node)}", "write ALIAS: TOOL")
        return {}
    written = {key.text for key, _ in node.entries}
    aliases: dict[str, str] = {}
    for key, value in node.entries:
        target = problems.text(value, f"the alias {clip(key.text, 40)!r}")
        if target is None:
            continue
        if target == key.text or target in written:
            problems.add(value, f"the alias {clip(key.text)!r} points to {clip(target)!r}, itself an alias")
        elif target not in tools:
            problems.add(value, f"the policy does not name the tool {clip(target)!r}", suggest(target, tools))
        elif key.text in tools and tools[key.text] != tools[target]:
            problems.add(
                key,
                f"{clip(key.text)!r} cannot be an alias of {clip(target)!r}: "
                f"{_differs(tools[key.text], tools[target])}; an alias is the same capability under another name",
                "take the alias out, or correct the policy of one of them",
            )
        else:
            aliases[key.text] = target
    return aliases


def _differs(a: ToolPolicy, b: ToolPolicy) -> str:
    parts = []
    if a.effect != b.effect:
        parts.append(f"effect {a.effect or 'unknown'} against {b.effect or 'unknown'}")
    if a.retired != b.retired:
        parts.append("retired against in use")
    if a.risk != b.risk:
        parts.append(f"risk {a.risk or 'unset'} against {b.risk or 'unset'}")
    return " and ".join(parts)
