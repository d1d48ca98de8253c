"""Runs: what belongs together, what is nested, what is one call, what is complete (design section 4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.spans import SpanLink
from tests.assemble.spans import agent, answer, calls, chat, run, runs, says, span, tool, user

ASK = user("where is my order?")
TOOLS = [{"name": "search", "description": "s", "parameters": {"type": "object"}}, {"name": "refund"}]


def test_a_call_seen_four_times_is_one_call() -> None:
    one = ("search", {"q": 1}, "c1")
    found = run(
        agent(),
        chat("m1", [ASK], [calls(one)], at=1, parent="agent"),
        tool("t1", "search", {"q": 1}, "c1", at=2, parent="agent"),
        tool("t1server", "search", at=2.1, until=2.5, parent="t1"),
        chat("m2", [ASK, calls(one), answer("c1", "A-1")], [says("there")], at=4, parent="agent"),
    )
    assert [(c.name, c.args, c.emitted, c.executed) for c in found.calls] == [("search", {"q": 1}, True, True)]
    assert [(r.ok, r.value) for r in found.results] == [(True, "A-1")]
    assert (found.first_action, found.observed_class, found.final_text) == ("search", "call", "there")


def test_a_retry_is_a_new_call_also_without_ids() -> None:
    again = ("search", {"q": 1}, None)
    failed = replace(tool("t1", "search", {"q": 1}, at=2, parent="agent"), status_code=2, status_message="busy")
    found = run(
        agent(),
        chat("m1", [ASK], [calls(again)], at=1, parent="agent"),
        failed,
        chat("m2", [ASK], [calls(again)], at=4, parent="agent"),
        tool("t2", "search", {"q": 1}, at=6, parent="agent"),
        chat("m3", [ASK], [says("done")], at=8, parent="agent"),
    )
    assert [(c.turn, c.span_id[:4]) for c in found.calls] == [(1, "7431"), (2, "7432")]
    assert [r.ok for r in found.results] == [False, True]


def test_call_ids_that_repeat_in_every_turn() -> None:
    first, second = ("search", {"q": 1}, "call_0"), ("search", {"q": 2}, "call_0")
    history = [ASK, calls(first), answer("call_0", "one")]
    found = run(
        agent(),
        chat("m1", [ASK], [calls(first)], at=1, parent="agent"),
        tool("t1", "search", None, "call_0", at=2, parent="agent"),
        chat("m2", history, [calls(second)], at=4, parent="agent"),
        tool("t2", "search", None, "call_0", at=5, parent="agent"),
        chat("m3", [*history, calls(second), answer("call_0", "two")], [says("x")], at=7, parent="agent"),
    )
    assert [c.args for c in found.calls] == [{"q": 1}, {"q": 2}]
    assert [r.value for r in found.results] == ["one", "two"]
    assert all(c.executed for c in found.calls)


def test_a_stubbed_call_is_a_decision_without_result() -> None:
    found = run(chat("m1", [ASK], [calls(("refund", {}, "c"))]))
    assert [(c.emitted, c.executed) for c in found.calls] == [(True, False)]
    assert found.results == ()
    assert found.incomplete is None


def test_history_of_an_earlier_request_is_not_counted() -> None:
    earlier = [ASK, calls(("search", {}, "old")), answer("old", 1), says("found"), user("and now?")]
    found = run(chat("m1", earlier, [says("nothing more")]))
    assert found.calls == ()
    assert found.request == "and now?"


def test_an_answer_that_was_not_recorded_is_read_from_the_next_request() -> None:
    found = run(
        agent(),
        chat("m1", [ASK], None, at=1, parent="agent"),
        chat("m2", [ASK, calls(("search", {"q": 1}, "c")), answer("c", 5)], [says("x")], at=3, parent="agent"),
    )
    assert [(c.name, c.turn, c.emitted) for c in found.calls] == [("search", 1, True)]
    assert found.results[0].value == 5


def test_every_model_call_its_own_trace() -> None:
    one = ("search", {"q": 1}, "c1")
    first = chat("m1", [ASK], [calls(one)], at=1, trace="1" * 32)
    second = chat("m2", [ASK, calls(one), answer("c1", 2)], [says("there")], at=3, trace="2" * 32)
    found = run(second, first)
    assert found.trace_ids == ("1" * 32, "2" * 32)
    assert [(c.name, c.turn) for c in found.calls] == [("search", 1)]
    assert found.final_text == "there"


def test_repeated_runs_with_the_same_scripted_ids_stay_apart() -> None:
    one = ("search", {"q": 1}, "call_0")
    spans = []
    for n in range(3):
        spans.append(chat(f"a{n}", [ASK], [calls(one)], at=10 * n, trace=f"{n}a" * 16))
        spans.append(
            chat(f"b{n}", [ASK, calls(one), answer("call_0", n)], [says("x")], at=10 * n + 3, trace=f"{n}b" * 16)
        )
    found = runs(*spans)
    assert [r.trace_ids for r in found] == [(f"{n}a" * 16, f"{n}b" * 16) for n in range(3)]
    assert [r.results[0].value for r in found] == [0, 1, 2]


def test_a_tool_span_that_lost_its_context_in_a_thread() -> None:
    found = run(
        agent(),
        chat("m1", [ASK], [calls(("search", {"q": 1}, "c1"))], at=1, parent="agent"),
        tool("t1", "search", None, "c1", at=2, trace="b" * 32),
    )
    assert [(c.name, c.args, c.executed) for c in found.calls] == [("search", {"q": 1}, True)]
    assert found.trace_ids == ("a" * 32, "b" * 32)


def test_an_application_span_keeps_its_run_apart() -> None:
    other = "b" * 32
    history = [ASK, calls(("search", {"q": 1}, "call_0")), answer("call_0", 5)]
    spans = (
        agent(),
        chat("m1", [ASK], [calls(("search", {"q": 1}, "call_0"))], at=1, parent="agent"),
        span("app", "", at=5, until=9, trace=other),
        chat("m2", history, [says("there")], at=6, parent="app", trace=other),
    )
    assert [r.trace_ids for r in runs(*spans)] == [("a" * 32,), (other,)]


def test_a_message_handled_elsewhere_is_joined_by_its_link() -> None:
    handled = tool("t1", "search", {"q": 1}, at=2, trace="b" * 32)
    linked = replace(handled, links=(SpanLink("a" * 32, "6d31000000000000"),))
    spans = (agent(), chat("m1", [ASK], [calls(("search", {"q": 1}, None))], at=1, parent="agent"))
    assert len(runs(*spans, handled)) == 2
    assert [(c.emitted, c.executed) for c in run(*spans, linked).calls] == [(True, True)]


def test_links_between_agents_do_not_make_them_one_run() -> None:
    first = (agent("one", until=5), chat("m1", [ASK], [says("1")], at=1, parent="one"))
    second = agent("two", at=6, until=9, trace="b" * 32)
    linked = replace(second, links=(SpanLink("a" * 32, first[0].span_id),))
    found = runs(*first, linked, chat("m2", [ASK], [says("2")], at=7, parent="two", trace="b" * 32))
    assert [r.final_text for r in found] == ["1", "2"]


def test_an_agent_used_as_a_tool_is_a_nested_run() -> None:
    found = runs(
        agent("boss"),
        chat("m1", [ASK], [calls(("ask", {}, "c"))], at=1, parent="boss"),
        tool("t1", "ask", {}, "c", at=2, until=50, parent="boss"),
        agent("helper", at=3, until=40, parent="t1"),
        chat("m2", [user("help")], [calls(("search", {}, "d"))], at=4, parent="helper"),
    )
    boss, helper = found
    assert [c.name for c in boss.calls] == ["ask"]
    assert [c.name for c in helper.calls] == ["search"]
    assert (boss.parent_run_id, helper.parent_run_id) == (None, boss.run_id)


def test_the_same_agent_wrapped_twice_is_one_run() -> None:
    found = run(
        agent("shop"),
        agent("inner", parent="shop", gen_ai__agent__name="shop"),
        chat("m1", [ASK], [says("hello")], at=1, parent="inner"),
    )
    assert (found.agent, found.final_text, found.parent_run_id) == ("shop", "hello", None)


def test_two_agents_in_one_trace_are_two_runs() -> None:
    root = span("root", "invoke_workflow", until=100)
    found = runs(
        root,
        agent("one", at=1, until=5, parent="root"),
        chat("m1", [user("a")], [says("1")], at=2, parent="one"),
        agent("two", at=6, until=9, parent="root"),
        chat("m2", [user("b")], [says("2")], at=7, parent="two"),
    )
    assert [(r.agent, r.request, r.final_text) for r in found] == [("one", "a", "1"), ("two", "b", "2")]


def test_one_generation_recorded_by_two_instrumentations() -> None:
    found = run(
        agent(),
        chat(
            "outer",
            [ASK],
            [calls(("search", {"q": 1}, "c"))],
            at=1,
            until=4,
            parent="agent",
            gen_ai__usage__input_tokens=7,
        ),
        chat(
            "inner",
            [ASK],
            [calls(("search", {"q": 1}, "c"))],
            at=2,
            until=3,
            parent="outer",
            gen_ai__usage__input_tokens=7,
        ),
    )
    assert len(found.calls) == 1
    assert found.input_tokens == 7


def test_one_generation_in_two_traces_shares_its_response_id() -> None:
    found = run(
        agent(),
        chat("m1", [ASK], [calls(("search", {}, "c"))], at=1, until=4, parent="agent", gen_ai__response__id="r"),
        chat("m2", [ASK], [calls(("search", {}, "c"))], at=2, until=3, trace="b" * 32, gen_ai__response__id="r"),
    )
    assert len(found.calls) == 1
    assert found.trace_id == "a" * 32


def test_a_response_id_that_a_mock_repeats_does_not_merge_runs() -> None:
    first = chat("m1", [user("a")], [says("1")], at=1, until=2, trace="1" * 32, gen_ai__response__id="r")
    second = chat("m2", [user("b")], [says("2")], at=5, until=6, trace="2" * 32, gen_ai__response__id="r")
    assert [r.final_text for r in runs(first, second)] == ["1", "2"]


def test_case_identity_from_any_span_or_the_resource() -> None:
    marked = agent(toolselect__case__id="c-1", toolselect__suite="s", toolselect__attempt="3", toolselect__label="l")
    found = run(marked, chat("m1", [ASK], [says("x")], parent="agent"))
    assert (found.case_id, found.suite, found.attempt, found.label) == ("c-1", "s", 3, "l")
    by_test = agent(test__case__name="c-2", test__suite__name="s2", test__run__id="r")
    found = run(by_test, chat("m1", [ASK], [says("x")], parent="agent"))
    assert (found.case_id, found.suite, found.attempt, found.label) == ("c-2", "s2", None, "r")


@pytest.mark.parametrize("attempt", ["--5", "\u00b2", "9" * 30, "9" * 5000])
def test_an_attempt_that_is_no_number_is_none(attempt: str) -> None:
    found = run(agent(toolselect__attempt=attempt), chat("m1", [ASK], [says("x")], parent="agent"))
    assert found.attempt is None


@pytest.mark.parametrize("tokens", [2**63 - 1, "9" * 19, 1e300])
def test_tokens_that_no_store_can_keep_are_not_counted(tokens: int | str | float) -> None:
    told = {"gen_ai__usage__input_tokens": tokens, "gen_ai__usage__output_tokens": 3, "gen_ai__usage__cost": "inf"}
    two = (chat(name, [ASK], [says("x")], at=at, parent="agent", **told) for at, name in enumerate(("m1", "m2"), 1))
    found = run(agent(), *two)
    assert (found.input_tokens, found.output_tokens, found.cost_usd) == (None, 6, None)


def test_a_span_without_its_parent_is_incomplete() -> None:
    found = run(chat("m1", [ASK], [says("x")], parent="gone"))
    assert found.incomplete == "parent span 676f6e6500000000 has not arrived"
    assert run(agent(), chat("m1", [ASK], [says("x")], parent="agent")).incomplete is None
    assert run(agent()).incomplete == "no model or tool span has arrived"
    assert run(agent(until=0), chat("m1", [ASK], [says("x")], parent="agent")).incomplete == "the agent span has no end"


def test_the_catalog_hash_changes_with_its_content_only() -> None:
    def catalog(tools: list[dict[str, object]]) -> str | None:
        return run(chat("m1", [ASK], [says("x")], gen_ai__tool__definitions=tools)).catalog_id

    base = catalog(TOOLS)
    assert base is not None
    assert catalog(TOOLS[::-1]) == base
    assert catalog([{"type": "function", "function": TOOLS[0]}, TOOLS[1]]) == base
    assert catalog([{**TOOLS[0], "description": "other"}, TOOLS[1]]) != base
    assert catalog([{**TOOLS[0], "parameters": {"type": "object", "properties": {}}}, TOOLS[1]]) != base
    assert catalog([{**TOOLS[0], "name": "find"}, TOOLS[1]]) != base
    assert run(chat("m1", [ASK], [says("x")])).tools_offered is None


def test_a_tool_that_was_not_offered_keeps_its_name() -> None:
    found = run(chat("m1", [ASK], [calls(("orders", {}, "c"))], gen_ai__tool__definitions=[{"name": "search_orders"}]))
    assert [c.name for c in found.calls] == ["orders"]


def test_a_prefix_that_all_offered_tools_share() -> None:
    offered = [{"name": "Shop-search"}, {"name": "Shop-refund"}]
    found = run(chat("m1", [ASK], [calls(("search", {}, "c"))], gen_ai__tool__definitions=offered))
    assert [c.name for c in found.calls] == ["Shop-search"]


def test_content_capture_off_is_unknown() -> None:
    found = run(agent(), tool("t1", "search", None, "c", parent="agent"))
    assert isinstance(found.calls[0].args, Unknown)
    assert isinstance(found.results[0].value, Unknown)
    assert (found.request, found.final_text) == (None, None)


def test_a_run_that_shows_no_decision_is_not_complete() -> None:
    silent = run(chat("m1", [ASK], None, gen_ai__response__finish_reasons=["tool_calls"]))
    assert silent.incomplete == "the model's answers were not recorded (is content capture on?)"


def test_an_infrastructure_failure_is_tagged() -> None:
    broken = replace(
        tool("t1", "search", {}, at=1, parent="agent"), status_code=2, status_message="HTTP 503 from upstream"
    )
    declined = replace(tool("t2", "pay", {}, at=2, parent="agent"), status_code=2, status_message="card declined")
    found = run(agent(), broken, declined)
    assert [(r.ok, r.infra) for r in found.results] == [(False, True), (False, False)]


def test_a_streamed_answer_in_a_trace_of_its_own() -> None:
    asked = chat("m1", [ASK], None, at=1, until=2, trace="1" * 32)
    streamed = chat("m2", [ASK], [says("there")], at=2.5, until=2.5, trace="2" * 32)
    found = run(asked, streamed)
    assert (found.request, found.final_text, found.trace_ids) == (
        ASK["parts"][0]["content"],
        "there",
        ("1" * 32, "2" * 32),
    )
