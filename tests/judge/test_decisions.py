"""What is counted of a judged run."""

from __future__ import annotations

from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.rules.loader import parse_suite
from otel_toolselect.rules.rulefiles import parse_rules
from tests.builders import call, run

SUITE = parse_suite(
    """
suite: shop
version: 3
policy:
  tools:
    search: {effect: read}
    refund: {effect: write, risk: high}
    update: {effect: write}
cases:
  - id: find
    prompt: find it
    expect: {first: [search], never: [update], args: {search: {q: shoes}}}
  - id: talk
    prompt: hello
    expect: {class: none}
""",
    path="shop.yaml",
)
RULES = parse_rules(
    """
rules: guard
policy:
  tools:
    search: {effect: read}
    refund: {effect: write}
    update: {effect: write}
cases:
  - id: no-update
    expect: {never: [update]}
    severity: critical
    owner: safety
""",
    path="guard.yaml",
)


def decided(*calls: object, prompt: str = "find it", **fields: object) -> Decision:
    judged = Panel((SUITE,)).judge([run(*calls, request=prompt, **fields)])  # type: ignore[arg-type]
    traffic, found = judged.decisions
    assert (traffic.suite, traffic.status, traffic.cells, traffic.layers) == ("", "n/a", (), {})
    assert (traffic.calls, traffic.ghosts, traffic.duration_ns) == (found.calls, found.ghosts, found.duration_ns)
    assert [v.run_id for v in judged.verdicts] == [found.run_id]
    return found


def test_a_run_as_it_should_be() -> None:
    found = decided(call("search", {"q": "shoes"}, ok=True), agent="a", model="m", duration_ns=7, input_tokens=3)
    assert (found.status, found.layers["selection"], found.layers["arguments"]) == ("pass", "pass", "pass")
    assert [(c.expected, c.observed) for c in found.cells] == [("search", "search")]
    assert found.scored == (("search", True),)
    assert (found.calls, found.failed_calls, found.loops) == ((("search", False),), 0, 0)
    assert (found.suite, found.rule, found.origin) == ("shop", "", "suite")
    assert (found.agent, found.model, found.duration_ns, found.input_tokens) == ("a", "m", 7, 3)
    assert found.forbidden == found.unauthorized == found.ghosts == ()


def test_calls_that_nobody_offered_or_allowed_are_named_once_each() -> None:
    tools = [ToolDefinition("search"), ToolDefinition("update")]
    found = decided(
        call("search", {"q": "hats"}), call("update", {"a": 1}), call("update", {"a": 2}), call("made_up"), tools=tools
    )
    assert found.forbidden == found.unauthorized == ("update", "update")
    assert found.ghosts == ("made_up",)
    assert found.scored == (("search", False),)
    assert [name for name, _ in found.calls] == ["search", "update", "update", "made_up"]
    assert found.status == "fail"


def test_a_write_where_nothing_was_wanted_is_unauthorized_but_not_forbidden() -> None:
    found = decided(call("refund"), prompt="hello")
    assert found.unauthorized == ("refund",)
    assert found.layers["selection"] == "fail"


def test_a_write_first_where_a_read_was_wanted_is_unauthorized() -> None:
    assert decided(call("refund")).unauthorized == ("refund",)
    assert decided(call("search", {"q": "shoes"}), call("refund")).unauthorized == ()


def test_repeats_failures_and_loops_are_counted() -> None:
    same = {"q": "shoes"}
    found = decided(call("search", same, ok=True), call("search", same, ok=True))
    assert (found.calls, found.loops) == ((("search", False), ("search", True)), 0)
    found = decided(call("search", same, ok=False), call("search", same, ok=False))
    assert (found.failed_calls, found.loops, found.calls[1][1]) == (2, 1, False)


def test_a_rule_decides_without_a_label() -> None:
    judged = Panel((), (RULES,)).judge([run(call("update"), request="anything", attributes={"toolselect.tenant": "t"})])
    _, found = judged.decisions
    assert (found.suite, found.rule, found.severity, found.owner) == ("guard", "no-update", "critical", "safety")
    assert (found.origin, found.status, found.tenant) == ("rule", "fail", "t")
    assert found.forbidden == ("update",)
    assert judged.verdicts == ()


def test_a_panel_names_all_that_it_holds_runs_to() -> None:
    assert Panel((SUITE,), (RULES,)).names == ("", "guard", "labels", "shop")


def test_every_run_is_traffic_once_also_without_any_expectation() -> None:
    judged = Panel().judge([run(run_id="a"), run(run_id="b", incomplete="no root"), run(run_id="a")])
    assert [(d.run_id, d.excluded) for d in judged.decisions] == [("a", None), ("b", "incomplete")]
