"""Bug kinds 21, 23, 26, 29 and 32, from their spans to their verdicts: what public issues of other tools got wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.judge import judge, judge_run
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import parse_suite
from tests.dialects.captures import read_file

HERE = Path(__file__).parent / "bugs"
SHARED = Path(__file__).parents[1] / "dialects" / "bugs"


def by_conversation(path: Path) -> Mapping[str, Run]:
    return {str(run.conversation_id): run for run in read_file(path)}


def finding(verdict: RunVerdict, check: str) -> Mapping[str, Any]:
    (found,) = [f.evidence for f in verdict.findings if f.check == check]
    return found


# --- 23: a failure inside an MCP result, then a retry

RETRY = """
suite: desk
policy: {tools: {read_page: {effect: read}, find_page: {effect: read}, pay: {effect: write}}}
cases: [{id: c, expect: {first: [read_page], recovery: {max_same_failure: 1}, budget: {redundant: 0}}}]
"""


def test_23_a_repeat_after_a_failure_is_recovery_and_not_redundancy() -> None:
    (run,) = read_file(SHARED / "23-mcp-iserror-then-retry.json")
    suite = parse_suite(RETRY, path="s.yaml")
    found = judge_run(run, suite.cases[0], suite)
    assert finding(found, "redundancy") == {"redundant": 0, "calls": 4}
    recovery = finding(found, "recovery")
    assert (recovery["failed"], recovery["recovered"]) == (2, 1)
    assert [n["then"] for n in recovery["next"]] == ["the same call", "nothing"]
    execution = found.layers["execution"]
    assert (execution.status, execution.evidence["failed"], execution.evidence["calls"]) == ("fail", 2, 4)
    assert found.layers["efficiency"].status == "pass"


# --- 26: the same tool twice

CITIES = {
    "two-cities-wrong": ("c26-a", ["New York", "Shanghai"], "unordered"),
    "two-cities-right": ("c26-b", ["New York", "Shanghai"], "unordered"),
    "same-twice": ("c26-c", ["Oslo", "Oslo"], "unordered"),
    "same-once": ("c26-d", ["Oslo", "Oslo"], "unordered"),
    "one-wanted-three-made": ("c26-e", ["Oslo"], "superset"),
    "one-wanted-three-strict": ("c26-e", ["Oslo"], "unordered"),
}


@pytest.mark.parametrize(
    ("case", "matched", "ratios", "failed"),
    [
        ("two-cities-wrong", 1, (1 / 2, 1 / 2), True),
        ("two-cities-right", 2, (1, 1), False),
        ("same-twice", 2, (1, 1), False),
        ("same-once", 1, (1, 1 / 2), True),
        ("one-wanted-three-made", 1, (1 / 3, 1), False),
        ("one-wanted-three-strict", 1, (1 / 3, 1), True),
    ],
)
def test_26_calls_are_a_multiset(case: str, matched: int, ratios: tuple[float, float], failed: bool) -> None:
    name, cities, mode = CITIES[case]
    calls = ", ".join(f"{{tool: weather, args: {{city: {city}}}}}" for city in cities)
    text = f"suite: s\ncases: [{{id: c, expect: {{reference: {{mode: {mode}, calls: [{calls}]}}}}}}]"
    suite = parse_suite(text, path="s.yaml")
    run = by_conversation(HERE / "26-multiset-duplicates.json")[name]
    found = judge_run(run, suite.cases[0], suite)
    evidence = found.layers["selection"].evidence
    assert (evidence["matched"], evidence["precision"], evidence["recall"]) == (matched, *ratios)
    layers = {found.layers[layer].status for layer in ("selection", "arguments")}
    assert ("fail" in layers) is failed, found.layers
    if case.startswith("one-wanted"):
        assert finding(found, "redundancy")["redundant"] == 2


# --- 29: YAML that turns words into other types; dates, accents and case


@pytest.mark.parametrize(
    ("trace", "written", "status", "said"),
    [
        ("country", "country: NO", "pass", ""),
        ("zip", "zip: 00501", "pass", ""),
        ("slot", "slot: 12:30", "pass", ""),
        ("ver", "version: 1.10", "pass", ""),
        ("day", "day: 2026-11-03", "pass", ""),
        ("nfd", 'name: "Caf\\u00e9 Lune"', "fail", "Unicode form"),
        ("nfd", 'name: {text: "Caf\\u00e9 Lune", unicode: NFC}', "pass", ""),
        ("case", "city: Paris", "fail", "case only"),
        ("case", "city: {text: Paris, ignore_case: true}", "pass", ""),
        ("long", "day: {date: 2026-11-03}", "pass", ""),
        ("inst", 'at: {datetime: "2026-11-02T22:30:00Z"}', "pass", ""),
        ("inst", "at: {date: 2026-11-03, zone: Europe/Berlin}", "fail", "2026-11-02 in Europe/Berlin"),
        ("rel", "day: {date: next Tuesday, today: 2026-10-30}", "pass", ""),
        ("rel", "day: {date: next Tuesday}", "pass", ""),
        ("us", "day: {date: 2026-11-03}", "fail", "03/11/2026 is ambiguous"),
        ("us", "day: {date: 2026-11-03, format: DD/MM/YYYY}", "pass", ""),
    ],
)
def test_29_values_mean_what_they_say(trace: str, written: str, status: str, said: str) -> None:
    suite = parse_suite(f"suite: s\ncases:\n  - id: c\n    expect: {{args: {{book: {{{written}}}}}}}\n", path="s.yaml")
    run = by_conversation(HERE / "29-dates-unicode-case-yaml.json")[f"c29-{trace}"]
    layer = judge_run(run, suite.cases[0], suite).layers["arguments"]
    assert (layer.status, said in layer.explanation) == (status, True), layer.explanation


# --- 32: a conversation over several traces: a turn is a run here, and each has its case

TRIP = """
suite: trip
cases:
  - id: flights
    prompt: Find flights to Oslo.
    expect: {reference: {mode: exact, calls: [{tool: search_flights, args: {to: Oslo}}]}}
  - id: hotel
    prompt: Also find a hotel.
    expect: {reference: {mode: exact, calls: [{tool: search_hotels, args: {city: Oslo}}]}}
  - id: station
    prompt: Near the station.
    expect: {reference: {mode: exact, calls: [book_hotel]}}
  - id: thanks
    prompt: Thanks.
    expect: {class: none}
"""


def test_32_turns_of_a_conversation_are_aligned_and_none_is_lost() -> None:
    runs = read_file(SHARED / "32-multi-turn-alignment.json")
    found = judge(runs, parse_suite(TRIP, path="s.yaml"))
    told = {v.case_id: (v.layers["selection"].status, v.layers["selection"].explanation) for v in found.runs}
    assert {case: status for case, (status, _) in told.items()} == {
        "flights": "pass",
        "hotel": "fail",
        "station": "fail",
    }
    assert "search_hotels" in told["hotel"][1]
    assert "unexpected: search_hotels" in told["station"][1]
    assert found.cases_without_run == ("thanks",)
    assert found.unmatched_runs == 0


# --- 21: a hand-off, an agent used as a tool, and the tools of a sub-agent

HANDOFF = """
suite: desk
policy:
  tools:
    transfer_to_billing_agent: {effect: handoff}
    get_invoice: {effect: read}
    ask_translator: {effect: read}
    detect_language: {effect: read}
cases:
  - id: with-handoff
    prompt: Explain invoice 88 in French.
    expect: {eventually: [transfer_to_billing_agent], never: ["effect:read"]}
  - id: business-tools
    prompt: Explain invoice 88 in French.
    agent: billing
    expect: {reference: {mode: exact, calls: [get_invoice, ask_translator]}}
  - id: translator-alone
    prompt: Explain invoice 88 in French.
    agent: translator
    expect: {reference: {mode: exact, calls: [detect_language]}}
"""


def test_21_each_agent_is_judged_for_its_own_calls() -> None:
    runs = read_file(SHARED / "21-handoff-and-subagent.json")
    for order in (runs, runs[::-1], runs + runs):
        found = judge(order, parse_suite(HANDOFF, path="s.yaml"))
        assert [(v.case_id, v.layers["selection"].status) for v in found.runs] == [
            ("with-handoff", "pass"),
            ("business-tools", "pass"),
            ("translator-alone", "pass"),
        ]
        assert (found.unmatched_runs, found.cases_without_run) == (0, ())


def test_21_without_a_case_about_an_agent_nested_runs_stay_their_parents() -> None:
    runs = read_file(SHARED / "21-handoff-and-subagent.json")
    text = HANDOFF[: HANDOFF.index("  - id: business-tools")]
    assert [v.case_id for v in judge(runs, parse_suite(text, path="s.yaml")).runs] == ["with-handoff"]
