"""Small inputs after public bug reports, each with the right outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect.model.runs import Run, ToolCall, Unknown
from tests.dialects.captures import read_file

BUGS = Path(__file__).parent / "bugs"


def load(name: str) -> list[Run]:
    return read_file(next(BUGS.glob(f"{name}-*.json")))


def only(name: str) -> Run:
    (run,) = load(name)
    return run


def brief(run: Run) -> list[tuple[str, object]]:
    return [(c.name, c.args) for c in run.calls]


def outcomes(run: Run) -> list[bool | None]:
    return [r.ok for r in run.results]


def test_big_integers_and_enum_names() -> None:
    run = only("02")
    assert brief(run)[0] == ("get_order", {"order_id": 9007199254740993})
    assert [c.name for c in run.calls] == ["get_order", "get_stock", "get_price", "place_order"]
    assert outcomes(run) == [True, True, True, False]
    stock = run.calls[1]
    assert stock.start_ns == 1793613600051456789
    assert run.results[1].duration_ns == 7
    assert run.results[3].value == "card declined"


def test_clocks_that_go_wrong() -> None:
    run = only("06")
    found = {r.name: (r.ok, r.duration_ns) for r in run.results}
    assert found == {
        "nightly_export": (True, 97_200_030_000_000),
        "ping": (True, None),
        "render_report": (None, None),
        "warm_up": (True, None),
        "get_time": (True, 12_000_000),
    }
    assert min(c.start_ns for c in run.calls) > 1_700_000_000 * 10**9, "nothing is placed in 1970"


def test_arguments_only_in_the_model_span() -> None:
    run = only("09")
    (call,) = run.calls
    assert (call.name, call.args, call.call_id) == (
        "get_delivery_eta",
        {"order_id": "A-1009", "carrier": "DPX"},
        "call_09",
    )
    assert (call.emitted, call.executed) == (True, True)
    assert run.results[0].value == {"eta": "2026-11-04"}
    assert outcomes(run) == [True]
    assert run.final_text == "It arrives on 4 November."


def test_arguments_encoded_twice_or_as_a_literal() -> None:
    run = only("11")
    assert brief(run) == [
        ("get_weather", {"city": "Lisbon"}),
        ("get_tide", {"port": "Faro"}),
        ("post_webhook", {"url": "https://example.test/h", "body": '{"city":"Lisbon"}'}),
        ("list_ports", {}),
        ("find_customer", {"name": "O'Brien", "vip": True, "ref": None}),
    ]
    assert [(c.emitted, c.executed) for c in run.calls] == [(True, False)] * 4 + [(False, True)]
    assert [(r.name, r.ok, r.value) for r in run.results] == [("find_customer", True, [{"id": 4}])]


def test_merged_pseudo_tool_and_results_out_of_order() -> None:
    run = only("13")
    assert [(c.name, c.args, c.call_id) for c in run.calls] == [
        ("get_stock", {"sku": "A1"}, "fc-1"),
        ("get_stock", {"sku": "B2"}, "fc-2"),
    ]
    assert outcomes(run) == [True, False]
    assert run.results[0].value == {"left": 3}


def test_old_and_new_names_and_eleven_indexed_calls() -> None:
    by_tool: dict[str, list[Run]] = {}
    for run in load("17"):
        by_tool.setdefault(run.calls[0].name, []).append(run)
    (numbers,) = by_tool["say_number"]
    assert [c.args for c in numbers.calls] == [{"n": n} for n in range(11)]
    assert numbers.provider == "openai"
    rates = [c for r in by_tool["get_rate"] for c in r.calls]
    assert [c.args for c in rates] == [{"from": "EUR"}, {"from": "JPY"}]
    (fee,) = by_tool["get_fee"]
    assert brief(fee) == [("get_fee", {"amount": 5})]
    assert fee.provider == "openai"


def test_content_in_span_events_old_and_new() -> None:
    run = only("20")
    assert brief(run) == [
        ("get_rate", {"from": "EUR", "to": "JPY"}),
        ("get_fee", {"amount": 50}),
        ("lock_rate", {"minutes": 5}),
    ]
    assert all(c.emitted and c.executed for c in run.calls)
    assert [(r.ok, r.value) for r in run.results] == [(True, "161.2"), (True, "1.50"), (False, "market closed")]
    assert run.request == "EUR to JPY, and the fee for 50?"
    assert set(run.tools_offered or ()) == {"get_rate", "get_fee", "lock_rate"}


def test_handoff_and_sub_agent_are_nested_runs() -> None:
    triage, billing, translator = load("21")
    assert [r.parent_run_id for r in (triage, billing, translator)] == [None, triage.run_id, billing.run_id]
    assert [[c.name for c in r.calls] for r in (triage, billing, translator)] == [
        ["transfer_to_billing_agent"],
        ["get_invoice", "ask_translator"],
        ["detect_language"],
    ]
    assert [r.agent for r in (triage, billing, translator)] == ["triage", "billing", "translator"]
    assert triage.conversation_id == "conv-21"
    assert not translator.calls[0].emitted


def test_error_inside_an_mcp_result() -> None:
    run = only("23")
    assert [(r.name, r.ok) for r in run.results] == [
        ("read_page", False),
        ("read_page", True),
        ("find_page", True),
        ("pay", False),
    ]
    assert [r.value for r in run.results][:2] == ["backend busy", "30 days"]
    assert run.results[2].value == {"title": "error budget", "error": None}


def test_one_conversation_over_three_traces() -> None:
    found = load("32")
    main = [r for r in found if r.parent_run_id is None]
    assert {r.conversation_id for r in main} == {"conv-32"}, "a quoted id is the same id"
    assert [[c.name for c in r.calls] for r in main] == [["search_flights"], [], ["search_hotels", "book_hotel"]]
    (nested,) = [r for r in found if r.parent_run_id]
    assert (nested.agent, [c.name for c in nested.calls]) == ("hotel_helper", ["rank_hotels"])


@pytest.mark.parametrize("path", sorted(BUGS.glob("*.json")), ids=lambda p: p.stem)
def test_no_call_has_invented_arguments(path: Path) -> None:
    for call in (c for r in read_file(path) for c in r.calls):
        assert isinstance(call, ToolCall)
        assert isinstance(call.args, (dict, Unknown))
