"""Traces that nothing ties can be assembled apart: what comes out is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect import dialects
from otel_toolselect.assemble import assemble, bonds, components
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span, SpanLink
from tests.assemble.spans import agent, answer, calls, chat, says, span, tool, user
from tests.dialects.captures import ALL, Scenario, signals

Trace = tuple[Observation, ...]


def by_trace(observations: Iterable[Observation]) -> list[Trace]:
    found: dict[str, list[Observation]] = {}
    for o in observations:
        found.setdefault(o.span.trace_id, []).append(o)
    return [tuple(trace) for trace in found.values()]


@cache
def captured(scenario: Scenario) -> list[Trace]:
    return by_trace(dialects.read(*signals(scenario)))


def apart(traces: Sequence[Sequence[Observation]]) -> list[Run]:
    found = [run for component in components(traces) for run in assemble(component)]
    return sorted(found, key=lambda r: (r.start_ns, r.run_id))


def together(traces: Iterable[Sequence[Observation]]) -> list[Run]:
    return assemble(o for trace in traces for o in trace)


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_captured_traces_assembled_in_components(data: st.DataObject) -> None:
    scenarios = data.draw(st.lists(st.sampled_from(ALL), min_size=1, max_size=5, unique=True))
    traces: list[Trace] = []
    for trace in (t for s in scenarios for t in captured(s)):
        kept = data.draw(st.sampled_from(["all", "all", "none", "some"]))
        # without its root a trace has lost its context
        traces += {"all": [trace], "none": [], "some": [t for t in [trace[1:]] if t]}[kept]
    assert apart(traces) == together(traces)


@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_each_capture_assembled_in_components(scenario: Scenario) -> None:
    assert apart(captured(scenario)) == together(captured(scenario))


def test_all_captures_at_once() -> None:
    traces = [t for s in ALL for t in captured(s)]
    assert apart(traces) == together(traces)


Part = st.tuples(
    st.sampled_from(["chat", "late", "tool", "linked", "unanswered"]),
    st.booleans(),  # under an agent
    st.integers(0, 2),  # which call id it shows
    st.integers(0, 2),  # which call id it emits
    st.sampled_from([0, 1, 5, 700, 90_000]),  # when
    st.integers(0, 2),  # which response id
)


@given(st.lists(Part, min_size=1, max_size=7))
@settings(max_examples=250, deadline=None)
def test_lost_traces_assembled_in_components(parts: list[tuple[str, bool, int, int, int, int]]) -> None:
    made = [lost(i, *part) for i, part in enumerate(parts)]
    traces = by_trace(dialects.read([s for trace in made for s in trace]))
    assert apart(traces) == together(traces)


def lost(i: int, kind: str, rooted: bool, shown: int, given: int, at: float, response: int) -> list[Span]:
    """One trace of one span, and perhaps an agent around it."""
    trace = f"{i:032x}"
    history = [user("x"), calls(("search", {"q": 1}, f"c{shown}")), answer(f"c{shown}", "r")] if shown else [user("x")]
    said = calls(("search", {"q": 1}, f"c{given}")) if given else says("done")
    more: dict[str, Any] = {"trace": trace, "at": at, "parent": f"agent{i}" if rooted else ""}
    if response:
        more["gen_ai__response__id"] = f"r{response}"
    if kind == "tool":
        one = tool(f"t{i}", "search", {"q": 1}, f"c{shown}", **more)
    elif kind == "linked":
        one = chat(f"m{i}", history, [said], **more)
        target = max(i - 1, 0)
        one = replace(one, links=(SpanLink(f"{target:032x}", f"m{target}".encode().hex().ljust(16, "0")),))
    elif kind == "late":
        one = chat(f"m{i}", [user("x")], [said], until=at, **more)
    else:
        one = chat(
            f"m{i}", [user("x")] if kind == "unanswered" else history, None if kind == "unanswered" else [said], **more
        )
    return [agent(f"agent{i}", trace=trace, at=at, until=at + 50), one] if rooted else [one]


def test_agents_own_traces_are_tied_by_nothing() -> None:
    shared = {"gen_ai__conversation__id": "conv", "gen_ai__response__id": "resp"}
    traces = [
        dialects.read(
            [
                agent(trace=name * 32, **shared),
                chat("m1", [user("x")], [calls(("search", {}, "c1"))], parent="agent", trace=name * 32, **shared),
                tool("t1", "search", {}, "c1", parent="agent", trace=name * 32, **shared),
                chat("m2", [user("x"), answer("c1", "r")], [says("y")], parent="agent", trace=name * 32, **shared),
            ]
        )
        for name in "abc"
    ]
    assert [len(c) for c in components(traces)] == [4, 4, 4]
    assert not any(bonds(t).wants for t in traces)


def test_a_chain_of_lost_calls_is_one_component() -> None:
    first = chat("m1", [user("x")], [calls(("search", {}, "c1"))], trace="1" * 32)
    second = chat("m2", [user("x"), answer("c1", "r")], [calls(("search", {}, "c2"))], trace="2" * 32, at=5)
    third = tool("t1", "search", {}, "c2", trace="3" * 32, at=9)
    other = chat("m1", [user("x")], [calls(("search", {}, "d1"))], trace="4" * 32)
    found = list(components(by_trace(dialects.read([third, other, first, second]))))
    assert sorted(len(c) for c in found) == [1, 3]


def test_what_nobody_offers_ties_nobody() -> None:
    lost_twice = [tool("t1", "search", {}, "c1", trace=n * 32) for n in "12"]
    assert len(list(components(by_trace(dialects.read(lost_twice))))) == 2


def test_bonds_hang_on_the_set_of_observations_alone() -> None:
    one = dialects.read([agent(), chat("m1", [user("x")], [calls(("search", {}, "c1"))], parent="agent")])
    assert bonds(one) == bonds([*reversed(one), one[0]])


def test_components_come_as_soon_as_they_are_whole() -> None:
    traces = [dialects.read([span("s", "chat", trace=f"{i:032x}")]) for i in range(3)]
    walked: list[int] = []

    class Walked(Iterable[list[Observation]]):
        def __iter__(self) -> Iterator[list[Observation]]:
            for i, trace in enumerate(traces):
                walked.append(i)
                yield trace

    found = components(Walked())
    next(found)
    assert walked == [0, 1, 2, 0]
