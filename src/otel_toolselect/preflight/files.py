"""The file of a preflight.

    preflight: support                              # a name
    servers:
      orders:
        command: [python, orders_server.py]         # an MCP server over stdio: started, asked, ended
        env: {ORDERS_DB: test.db, KEY: "${KEY}"}    # ${NAME} is taken from the environment
      billing:
        url: http://127.0.0.1:8080/mcp              # an MCP server over streamable HTTP
        headers: {Authorization: "Bearer ${BILLING_TOKEN}"}
      local:
        python: my_agent.tools                      # the functions of a module
    pinned: tools.json                              # written by `toolselect preflight FILE --pin`
    policy: {tools: {find_orders: {effect: read}}}  # what reads and what writes; or `suite: suite.yaml` for its policy
    checks:
      - tool: find_orders                           # server/tool where two servers offer one name
        args: {query: headphones}
        expect: {result: {object: {count: {range: [1, 100]}}, open: true}, within: 2s}
      - tool: find_orders
        args: {}
        expect: {ok: false, error: query}           # refuses, and says why
      - tool: refund_order
        args: {order: TEST-1}
        writes: true                                # meant: this call changes something
        repeat: 2                                   # the same answer each time

Values are matchers as in suites. A call to a tool that the policy does not call `effect: read` needs `writes: true`, so
that nobody moves money by a check that was copied; what a server says of its own tools does not count there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from otel_toolselect.errors import SuiteError
from otel_toolselect.rules import Policy, load_suite
from otel_toolselect.rules.contracts import Contract, parse_contract
from otel_toolselect.rules.documents import Fields, Node, Problems, Scalar, clip, json_value, read_document
from otel_toolselect.rules.durations import parse_length
from otel_toolselect.rules.policy import parse_policy

_KEYS = ("preflight", "version", "servers", "pinned", "suite", "policy", "checks", "timeout")
_KINDS = ("command", "url", "python")
_SERVER = (*_KINDS, "env", "cwd", "headers")
_CHECK = ("tool", "args", "expect", "repeat", "writes")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_TIMEOUT_S = 30.0
_REPEATS = 20


@dataclass(frozen=True, slots=True)
class Server:
    """One of command, url and python is set. Values of `env` and `headers` may be secrets: they are never shown."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    python: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        return " ".join(self.command) or self.url or self.python


@dataclass(frozen=True, slots=True)
class Check:
    """One call and what it must give. `server` is empty where the tool's name says enough."""

    tool: str
    server: str
    args: dict[str, Any]
    contract: Contract
    repeat: int
    writes: bool
    line: int


@dataclass(frozen=True, slots=True)
class Plan:
    name: str
    path: str
    servers: tuple[Server, ...]
    checks: tuple[Check, ...]
    policy: Policy
    pinned: str | None
    timeout_s: float


def load(path: str, environment: Mapping[str, str] = os.environ) -> Plan:
    """Read the file. Raises InputError, or SuiteError with every mistake and its place."""
    root, problems = read_document(path)
    found = problems.fields(root, "a preflight file", _KEYS) or {}
    name = problems.text(found["preflight"][1], "preflight") if "preflight" in found else None
    if not problems.found and "preflight" not in found:
        problems.add(root, "preflight is missing", "write preflight: NAME")
    folder = Path(path).parent
    servers = _servers(found["servers"][1], folder, environment, problems) if "servers" in found else ()
    if not servers and not problems.found:
        problems.add(root, "there must be one server or more", "write servers: {NAME: {command: [...]}}")
    policy = _policy(found, folder, problems)
    names = [server.name for server in servers]
    items = problems.items(found["checks"][1], "checks") if "checks" in found else ()
    checks = [_check(item, names, policy, problems) for item in items]
    timeout = parse_length(found["timeout"][1], "timeout", problems) if "timeout" in found else None
    pinned = problems.text(found["pinned"][1], "pinned") if "pinned" in found else None
    if problems.found:
        raise SuiteError(problems.found)
    return Plan(
        name=name or "",
        path=path,
        servers=servers,
        checks=tuple(check for check in checks if check is not None),
        policy=policy,
        pinned=None if pinned is None else str(folder / pinned),
        timeout_s=timeout / 1e9 if timeout else _TIMEOUT_S,
    )


def _policy(found: Mapping[str, tuple[Scalar, Node]], folder: Path, problems: Problems) -> Policy:
    if "suite" in found and "policy" in found:
        problems.add(found["policy"][0], "suite and policy both say what tools do", "keep one of them")
    if "suite" in found:
        suite = problems.text(found["suite"][1], "suite")
        return load_suite(str(folder / suite)).policy if suite else Policy()
    return parse_policy(found["policy"][1] if "policy" in found else None, "", problems)


def _servers(node: Node, folder: Path, environment: Mapping[str, str], problems: Problems) -> tuple[Server, ...]:
    if not isinstance(node, Fields):
        problems.add(node, "servers must be a mapping", "write {NAME: {command: [...]}}")
        return ()
    made = [_server(key, value, folder, environment, problems) for key, value in node.entries]
    return tuple(server for server in made if server is not None)


def _server(key: Scalar, node: Node, folder: Path, environment: Mapping[str, str], problems: Problems) -> Server | None:
    found = problems.fields(node, f"server {clip(key.text)}", _SERVER)
    if found is None:
        return None
    kinds = [kind for kind in _KINDS if kind in found]
    if len(kinds) != 1:
        problems.add(key, f"server {clip(key.text)} needs exactly one of {', '.join(_KINDS)}")
        return None
    if "/" in key.text:
        problems.add(key, "the name of a server cannot hold a slash")
        return None
    texts = partial(_texts, environment=environment, problems=problems)
    where = problems.text(found["cwd"][1], "cwd") if "cwd" in found else ""
    command = tuple(text for text, _ in problems.texts(found["command"][1], "command")) if "command" in found else ()
    if "command" in found and not command:
        problems.add(key, "an empty command starts nothing")
    return Server(
        name=key.text,
        command=command,
        url=(problems.text(found["url"][1], "url") or "") if "url" in found else "",
        python=(problems.text(found["python"][1], "python") or "") if "python" in found else "",
        cwd=str(folder / (where or "")),
        env=texts(found["env"][1], "env") if "env" in found else {},
        headers=texts(found["headers"][1], "headers") if "headers" in found else {},
    )


def _texts(node: Node, what: str, *, environment: Mapping[str, str], problems: Problems) -> dict[str, str]:
    """A mapping of texts in which `${NAME}` stands for a variable of the environment."""
    if not isinstance(node, Fields):
        problems.add(node, f"{what} must be a mapping of texts")
        return {}
    made = {}
    for key, value in node.entries:
        text = problems.text(value, f"{what}.{clip(key.text)}")
        for name in _VARIABLE.findall(text or ""):
            if name not in environment:
                problems.add(value, f"the environment has no {name}", f"set {name}, or write the value here")
        made[key.text] = _VARIABLE.sub(lambda m: environment.get(m[1], ""), text or "")
    return made


def _check(node: Node, servers: list[str], policy: Policy, problems: Problems) -> Check | None:
    found = problems.fields(node, "a check", _CHECK)
    if found is None:
        return None
    if "tool" not in found:
        problems.add(node, "tool is missing in a check", "write tool: NAME")
        return None
    tool = problems.text(found["tool"][1], "tool") or ""
    server, slash, rest = tool.partition("/")
    qualified = bool(slash) and server in servers
    args = json_value(found["args"][1]) if "args" in found else {}
    if not isinstance(args, dict):
        problems.add(found["args"][1], "args must be a mapping of argument names", "write {NAME: VALUE}")
        args = {}
    repeat = problems.whole(found["repeat"][1], "repeat", least=1) if "repeat" in found else 1
    if repeat is not None and repeat > _REPEATS:
        problems.add(found["repeat"][1], f"repeat is at most {_REPEATS}")
    writes = bool(problems.boolean(found["writes"][1], "writes")) if "writes" in found else False
    name = rest if qualified else tool
    if not writes and policy.effect_of(policy.canonical(name)) != "read":
        hint = "give it effect: read in the policy, or write writes: true if that is meant"
        problems.add(found["tool"][1], f"calling {clip(name)} may change something", hint)
    return Check(
        tool=name,
        server=server if qualified else "",
        args=args,
        contract=parse_contract(found["expect"][1] if "expect" in found else None, policy, problems),
        repeat=repeat or 1,
        writes=writes,
        line=node.line,
    )
