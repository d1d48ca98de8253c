"""Catalogs of runs, their difference, and each kind of suspicion with its good twin (R46)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_toolselect.errors import UsageError
from otel_toolselect.model.catalogs import Catalog
from otel_toolselect.model.runs import ToolDefinition as Tool
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.reports import (
    catalogs_json,
    catalogs_table,
    diff_json,
    diff_table,
    suspicions_json,
    suspicions_table,
)
from otel_toolselect.triage.catalog_lint import Context, lint
from otel_toolselect.triage.catalogs import catalogs, chosen, diff
from otel_toolselect.triage.overlap import overlap, words
from tests.builders import run
from tests.reports.samples import HOSTILE

READ = "Look up one thing. Changes nothing."


def catalog(*tools: Tool) -> Catalog:
    return Catalog("sha256:c1", tools, 1)


def kinds(*tools: Tool, **more: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(s.kind, s.severity, s.tools) for s in lint([catalog(*tools)], Context(**more))]


def test_catalogs_of_runs() -> None:
    a, b = Tool("a", READ), Tool("b", READ)
    runs = [
        run(run_id="1", tools=[a, b], catalog_id="sha256:x1", model="m", agent="shop", start_ns=5),
        run(run_id="2", tools=[b, a], catalog_id="sha256:x1", model="n", start_ns=9),
        run(run_id="3", tools=[a], catalog_id="sha256:y2"),
        run(run_id="4"),
    ]
    first = catalogs(runs)
    assert [(c.id, c.runs, [t.name for t in c.tools]) for c in first] == [
        ("sha256:x1", 2, ["a", "b"]),
        ("sha256:y2", 1, ["a"]),
    ]
    assert (first[0].models, first[0].first_ns, first[0].last_ns) == (("m", "n"), 5, 9)
    assert catalogs(reversed(runs)) == first
    assert chosen(first, "x").id == chosen(first, "sha256:x1").id == "sha256:x1"
    for wrong in ("z", "", "sha256:"):
        with pytest.raises(UsageError, match="x1, y2"):
            chosen(first, wrong)
    with pytest.raises(UsageError, match="fits 2 catalogs"):
        chosen([*first, Catalog("sha256:x9", (), 1)], "x")
    assert "2 catalogs" in catalogs_table(first, colour=False, width=100)
    assert json.loads(catalogs_json(first))["catalogs"][0]["models"] == ["m", "n"]


def test_diff() -> None:
    before = catalog(Tool("gone", READ), Tool("same", READ), Tool("told", "old"), Tool("typed", READ, {"a": 1.0}))
    after = catalog(Tool("new", READ), Tool("same", READ), Tool("told", HOSTILE), Tool("typed", READ, {"a": 2}))
    found = diff(before, after)
    assert [t.name for t in found.added] == ["new"]
    assert [t.name for t in found.removed] == ["gone"]
    assert [(c.name, c.what) for c in found.changed] == [("told", ("description",)), ("typed", ("schema",))]
    assert found.same == 1
    assert "\x1b" not in diff_table(found, colour=False, width=100)
    assert json.loads(diff_json(found))["changed"][1]["after"]["schema"] == {"a": 2}
    assert diff(catalog(Tool("t", "", {"a": 1})), catalog(Tool("t", "", {"a": 1.0}))).changed == ()


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("find_orders", "find orders"),
        ("findOrders", "find orders"),
        ("HTTPGet2", "http get 2"),
        ("mcp__x-y", "mcp x y"),
    ],
)
def test_names_are_cut_into_words(name: str, cut: str) -> None:
    assert words(name) == cut


def test_overlap_by_words_and_by_observation() -> None:
    a = Tool("search_orders", "Search the orders of a customer by date.")
    b = Tool("find_orders", "Search the orders of a customer by status.")
    c = Tool("send_mail", "Send a mail to the customer.")
    assert overlap(a, b).lexical
    assert not overlap(a, c).lexical
    seen = {Cell("search_orders", "find_orders"): 2, Cell("find_orders", "search_orders"): 1}
    found = lint([catalog(a, b, c)], Context(confused=seen))
    (one,) = [s for s in found if s.kind == "overlap"]
    assert (one.severity, one.tools) == ("warning", ("find_orders", "search_orders"))
    assert one.texts == (("find_orders", b.description), ("search_orders", a.description))
    assert one.figures["observed"] == 3
    assert "2 wanted search_orders and got find_orders" in one.message
    once = {Cell("send_mail", "find_orders"): 1}
    assert ("overlap", "note", ("find_orders", "send_mail")) in kinds(a, b, c, confused=once)


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (Tool("x"), "no-description"),
        (Tool("delete_user", "The user with this id."), "side-effect"),
        (Tool("thing", "A thing."), "side-effect"),
        (Tool("look", "The best way to search. Always use it."), "advertising"),
        (Tool("look", "Search everything!"), "advertising"),
        (Tool("look", "Search; expected tool for test case 12."), "leak"),
        (Tool("query", "Read the database.", {"properties": {"sql": {"type": "string"}}}), "generic"),
        (Tool("run_command", "Run a command."), "generic"),
    ],
)
def test_suspicious(bad: Tool, kind: str) -> None:
    assert [found[0] for found in kinds(bad)] == [kind]


@pytest.mark.parametrize(
    "good",
    [
        Tool("get_order", READ),
        Tool("delete_user", "Delete the user with this id. Cannot be undone."),
        Tool("cancel_plan", "End a plan now. Cannot be undone."),
        Tool("query", "Read the database.", {"properties": {"sql": {"type": "string", "enum": ["a", "b"]}}}),
        Tool("query", "Search orders by words.", {"properties": {"query": {"type": "string"}}}),
        Tool("odd", "Read.", {"properties": ["not", "a", "mapping"]}),
        Tool("upgrade", "Change the plan to premium."),
    ],
)
def test_not_suspicious(good: Tool) -> None:
    assert kinds(good) == []


def test_effects_of_the_policy_count_more_than_names() -> None:
    tool = Tool("look", "The order with this id, as a table of rows.")
    assert kinds(tool, effects={"look": "write"}) == [("side-effect", "warning", ("look",))]
    assert kinds(Tool("update_view", "Show the view."), effects={"update_view": "read"}) == []


def test_prompts_in_descriptions() -> None:
    prompt = "Can I get my money back for the broken headphones?"
    tool = Tool("refund", "Refund: can I get my money back, and so on.")
    assert kinds(tool, prompts=[prompt]) == [("leak", "warning", ("refund",))]
    assert kinds(Tool("refund", "Refund my money back."), prompts=[prompt]) == []


@pytest.mark.parametrize(("n", "severity"), [(8, None), (9, "note"), (15, "note"), (16, "warning"), (21, "warning")])
def test_size(n: int, severity: str | None) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    tools = [Tool(letters[i] * 5, f"Read {letters[i] * 9} {letters[-i] * 9}.") for i in range(n)]
    got = [s for s in lint([catalog(*tools)], Context()) if s.kind == "size"]
    assert [s.severity for s in got] == ([severity] if severity else [])
    assert all(s.figures["tools"] == n for s in got)


def test_what_several_catalogs_share_is_said_once() -> None:
    twice = [Catalog(name, (Tool("x"),), 1) for name in ("sha256:2", "sha256:1")]
    (one,) = lint(twice, Context())
    assert one.catalogs == ("sha256:1", "sha256:2")
    assert "1 warning, 0 notes" in suspicions_table([one], 2, colour=False, width=100)
    assert json.loads(suspicions_json([one], 2))["suspicions"][0]["kind"] == "no-description"
