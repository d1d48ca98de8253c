"""Preflight against real MCP servers over stdio and HTTP, and against functions of a module (R55)."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from otel_toolselect.app.preflight import pin, preflight
from otel_toolselect.errors import EnvironmentProblem, InputError, SuiteError, UsageError
from otel_toolselect.model.preflight import Answer, Hints, Offer, OfferedTool, Preflight
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.preflight import inspect, load, read_pins, written
from otel_toolselect.preflight.asking import Asked, _ended
from tests.cli.conftest import Cli, cli

__all__ = ["cli"]
SERVER = Path(__file__).with_name("server.py")
TOOLS = '''
import asyncio
calls = []
def find(query: str) -> dict:
    """Finds."""
    return {"count": len(query)}
def pay(amount):
    """Pays."""
    calls.append(amount)
    raise PermissionError("not in tests")
async def sleepy():
    """Takes very long."""
    await asyncio.sleep(600)
def _private(): ...
'''


def write(folder: Path, text: str, name: str = "tools.yaml") -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def said(found: Preflight, kind: str) -> list[tuple[str, str]]:
    return [(c.tool, c.message) for c in found.concerns if c.kind == kind]


@pytest.fixture
def stdio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    monkeypatch.delenv("CHANGED", raising=False)
    return write(
        tmp_path,
        f"""
preflight: shop
servers:
  orders: {{command: [{sys.executable}, {SERVER}], env: {{SHOP_KEY: "${{SECRET_KEY}}"}}}}
pinned: pins.json
policy: {{tools: {{find_orders: {{effect: read}}, lottery: {{effect: read}}}}}}
checks:
  - {{tool: find_orders, args: {{query: head}}, expect: {{result: {{count: 1, orders: [headphones]}}, within: 1h}}}}
  - {{tool: find_orders, args: {{query: ""}}, expect: {{error: must not be empty}}}}
  - {{tool: orders/find_orders, args: {{query: radio}}, expect: {{result: {{object: {{count: 2}}, open: true}}}}}}
  - {{tool: refund_order, args: {{order: T-1}}, writes: true, expect: {{result: refunded T-1 for s3cret}}}}
  - {{tool: lottery, repeat: 3}}
  - {{tool: nothing, writes: true}}
""",
    )


def test_a_server_over_stdio(stdio: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, (offer,) = pin(stdio)
    assert [tool.name for tool in offer.tools] == ["find_orders", "refund_order", "lottery"]
    assert offer.tools[0].hints == Hints(read_only=True)
    pinned = Path(name).read_text("utf-8")
    found = preflight(stdio)
    assert said(found, "contract") == [
        ("find_orders", "result: count: expected 2, got 1"),
        ("lottery", "3 different answers to the same call: 3 / 4 / 5"),
        ("nothing", "a check calls it, and no server offers it"),
    ]
    assert (found.checks, found.passed, found.failed) == (6, 3, True)
    assert said(found, "hint") == [
        ("refund_order", "no readOnlyHint: clients must take it for a tool that may change something"),
        ("lottery", "does not say that it only reads; the policy does"),
        ("lottery", "no destructiveHint: clients must take its changes for ones that cannot be undone"),
    ]
    assert said(found, "drift") == []
    edited = json.loads(pinned)
    tools = edited["servers"]["orders"]["tools"]
    tools[0]["description"], tools[0]["hints"] = "Finds nothing.", {}
    tools[2]["name"] = "gone"
    edited["servers"]["away"] = {"tools": []}
    Path(name).write_text(json.dumps(edited), "utf-8")
    found = preflight(stdio)
    assert said(found, "drift") == [
        ("refund_order", "new since it was pinned"),
        ("gone", "gone since it was pinned"),
        ("find_orders", "description, hints changed since it was pinned"),
        ("", "pinned, and not among the servers of the file"),
    ]
    (changed,) = [c for c in found.concerns if c.kind == "drift" and c.details]
    assert changed.details[0] == 'description: "Finds nothing." -> "Finds orders by a word."'


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True


@pytest.fixture
def over_http(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "http"]
    errors = (tmp_path / "stderr").open("w")
    with errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        end = time.monotonic() + 60
        while not listens(port):  # it tells its port before it does
            assert process.poll() is None, (tmp_path / "stderr").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


def test_a_command_that_ends_says_why(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, "import os, sys\nsys.exit(f'no database at {os.environ[\"ORDERS_DB\"]}')\n", "broken.py")
    path = write(
        tmp_path,
        f"""
preflight: shop
servers:
  orders: {{command: [{sys.executable}, broken.py], env: {{ORDERS_DB: s3cret.db}}}}
""",
    )
    done = cli("preflight", path)
    assert done.returncode == 4
    assert "orders: out of reach" in done.stdout
    assert "the command ended, saying: no database at ***" in done.stdout


def test_a_server_over_http_beside_one_that_is_away(over_http: str, tmp_path: Path, cli: Cli) -> None:
    path = write(
        tmp_path,
        f"""
preflight: shop
servers:
  away: {{url: "http://127.0.0.1:9/mcp"}}
  missing: {{command: [no-such-command]}}
  orders: {{url: "{over_http}", headers: {{Authorization: Bearer abc}}}}
policy: {{tools: {{find_orders: {{effect: read}}}}}}
checks:
  - {{tool: orders/find_orders, args: {{query: radio}}, expect: {{result: {{count: 1, orders: [radio]}}}}}}
  - {{tool: away/find_orders, args: {{query: radio}}}}
""",
    )
    wait_until_it_answers(path)
    done = cli("preflight", path)
    assert done.returncode == 4
    assert "1 of 1 check passed, 2 errors" in done.stdout
    assert "away: out of reach" in done.stdout
    assert "the command was not found: no-such-command" in done.stdout
    assert "not every server could be asked" in done.stderr
    with pytest.raises(UsageError, match="add pinned"):
        pin(path)
    Path(path).write_text(Path(path).read_text("utf-8") + "pinned: pins.json\n", "utf-8")
    with pytest.raises(EnvironmentProblem, match="nothing was pinned"):
        pin(path)


def wait_until_it_answers(path: str) -> None:
    """The port is told before it is open."""
    for _ in range(100):
        if preflight(path).offers[2].failure is None:
            return
    raise AssertionError("the server never came up")


def test_functions_of_a_module(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, TOOLS, "shop_functions.py")
    path = write(
        tmp_path,
        """
preflight: <local>
timeout: 1s
servers: {local: {python: shop_functions}, again: {python: shop_functions}}
policy: {tools: {find: {effect: read}, sleepy: {effect: read}}}
checks:
  - {tool: local/find, args: {query: abc}, expect: {result: {count: {range: [1, 3]}}}}
  - {tool: local/pay, args: {amount: 5}, writes: true, expect: {error: {matches: "PermissionError: .*"}}}
  - {tool: local/find, args: {question: abc}}
  - {tool: again/sleepy}
""",
    )
    done = cli("preflight", path, "--format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["checks"]) == (1, {"passed": 2, "n": 4})
    concerns = {(c["kind"], c["tool"]): c["message"] for c in found["concerns"]}
    assert concerns["contract", "find"].startswith("failed: TypeError: find() got an unexpected keyword")
    assert concerns["contract", "sleepy"] == "no answer: nothing came within 1 s"
    assert concerns["collision", "pay"] == "also offered by again"
    assert concerns["unchecked", "sleepy"] == "no check calls it"
    assert found["servers"][0]["tools"] == ["find", "pay", "sleepy"]
    xml = ET.fromstring(cli("preflight", path, "--format", "junit").stdout)
    assert xml.get("failures") == "2"
    assert {c.get("name") for c in xml.iter("testcase") if c.find("failure") is not None} == {"find", "sleepy"}


def test_a_server_that_ends_in_the_middle_leaves_checks_without_an_answer(tmp_path: Path) -> None:
    text = "preflight: x\nservers: {a: {python: y}}\nchecks: [{tool: pay, writes: true}, {tool: find, writes: true}]"
    plan = load(write(tmp_path, text))
    tools = (offered("pay", None), offered("find", None))
    asked = Asked(Offer("a", tools), {0: (Answer(True, 1, 0.1),)})
    found = _ended(asked, ConnectionResetError("gone"), plan.servers[0], plan)
    assert found.offer == asked.offer
    assert [found.answers[i][0].failure for i in (0, 1)] == [None, "ConnectionResetError: gone"]
    assert _ended(Asked(Offer("a")), ConnectionResetError("gone"), plan.servers[0], plan).offer.failure is not None


def test_secrets_are_never_shown(stdio: str) -> None:
    plan = load(stdio)
    assert "s3cret" not in repr(plan.servers)
    assert plan.servers[0].env == {"SHOP_KEY": "s3cret"}


CHECK = "preflight: x\nservers: {a: {python: y}}\nchecks: [{tool: pay, writes: true, "
MISTAKES = {
    "servers: {a: {python: x}}": "preflight is missing",
    "preflight: x": "there must be one server or more",
    "preflight: x\nservers: {a: {}}": "exactly one of command, url, python",
    "preflight: x\nservers: {a: {command: [x], url: y}}": "exactly one of command, url, python",
    "preflight: x\nservers: {a: {command: []}}": "an empty command starts nothing",
    "preflight: x\nservers: {a: {url: y, headers: {K: '${NOT_SET_ANYWHERE}'}}}": "has no NOT_SET_ANYWHERE",
    "preflight: x\nservers: {a: {python: y}}\nchecks: [{tool: pay}]": "calling pay may change something",
    CHECK + "expect: {ok: true, error: x}}]": "a call that is ok has no error",
    CHECK + "expect: {ok: false, result: 1}}]": "a call that fails has no result",
    CHECK + "repeat: 21}]": "at most 20",
    "preflight: x\nservers: {a: {python: y}}\nchecks: [{args: {}}]": "tool is missing",
    "preflight: x\nservers: {a: {python: y}}\nsuite: a.yaml\npolicy: {}": "both say",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_have_their_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text("suite: a\nversion: 1\ncases: [{id: a, prompt: x, expect: {first: [y]}}]", "utf-8")
    with pytest.raises(SuiteError) as caught:
        load(write(tmp_path, text))
    assert MISTAKES[text] in str(caught.value)
    assert "tools.yaml:" in str(caught.value)


def offered(name: str, schema: object, description: str = "Finds.", hints: Hints | None = None) -> OfferedTool:
    return OfferedTool(ToolDefinition(name, description, schema), hints)  # type: ignore[arg-type]


SCHEMAS = [
    (
        {"type": "object", "properties": {"a": {"type": "strin", "description": "d"}}},
        "error",
        "the parameters are no JSON Schema",
    ),
    ({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, "error", "is not looked up"),
    ({"type": "array"}, "error", "of type 'array', not an object"),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, "error", "required and not a property: a"),
    (None, "warning", "the model must guess"),
    ({"type": "object", "properties": {"a": {"type": "string"}}}, "note", "without a description: a"),
]


@pytest.mark.parametrize(("schema", "severity", "says"), SCHEMAS)
def test_ill_formed_schemas(tmp_path: Path, schema: object, severity: str, says: str) -> None:
    plan = load(write(tmp_path, "preflight: x\nservers: {a: {python: y}}"))
    found = [c for c in inspect(plan, [Offer("a", (offered("t", schema),))], None) if c.kind == "schema"]
    assert [(c.severity, says in c.message) for c in found] == [(severity, True)], found


def test_hints_against_the_policy(tmp_path: Path) -> None:
    text = "preflight: x\nservers: {a: {python: y}}\npolicy: {tools: {pay: {effect: write}}}"
    plan = load(write(tmp_path, text))
    tools = (offered("pay", {}, hints=Hints(read_only=True, destructive=True)), offered("quiet", {}, "", None))
    found = inspect(plan, [Offer("a", tools)], None)
    assert [(c.severity, c.message) for c in found if c.kind == "hint"] == [
        ("error", "says that it only reads; the policy says that it writes"),
        ("warning", "says that it only reads, and that it destroys"),
    ]
    assert [c.message for c in found if c.kind == "schema"] == [
        "no description: the model has only the name to choose by"
    ]


def test_pins_do_not_depend_on_the_order_and_damage_is_told(tmp_path: Path) -> None:
    tools = (offered("b", {"type": "object"}, hints=Hints(True)), offered("a", None))
    text = written([Offer("s", tools), Offer("r", ())])
    assert text == written([Offer("r", ()), Offer("s", tools[::-1])])
    path = write(tmp_path, text, "pins.json")
    assert read_pins(path)["s"] == (tools[1], tools[0])
    for damaged, says in (
        ("{", "not JSON"),
        ("{}", "not a pinned catalog"),
        (text.replace('"name"', '"n"'), "damaged"),
    ):
        write(tmp_path, damaged, "pins.json")
        with pytest.raises(InputError, match=says):
            read_pins(path)
    Path(path).unlink()
    with pytest.raises(InputError, match="--pin"):
        read_pins(path)
