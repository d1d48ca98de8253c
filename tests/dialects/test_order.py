"""Order of arrival, split into requests and repeats change nothing (design section 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect.dialects import read
from otel_toolselect.model.spans import Span, SpanEvent, SpanLink
from tests.dialects.captures import ALL, Scenario, runs, runs_of, signals


@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_reversed_and_doubled(scenario: Scenario) -> None:
    spans, logs = signals(scenario)
    assert tuple(runs_of(spans[::-1], logs[::-1])) == runs(scenario)
    assert tuple(runs_of(spans + spans[::-1], logs + logs)) == runs(scenario)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_order_and_any_repeats(data: st.DataObject) -> None:
    scenario = data.draw(st.sampled_from(ALL))
    spans, logs = signals(scenario)
    again = data.draw(st.lists(st.sampled_from(spans), max_size=6))
    shuffled = tuple(data.draw(st.permutations([*spans, *again])))
    assert tuple(runs_of(shuffled, tuple(data.draw(st.permutations(list(logs)))))) == runs(scenario)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from([s for s in ALL if s.name in ("s1", "s5")]), min_size=2, max_size=4, unique=True))
def test_runs_of_several_libraries_do_not_mix(chosen: list[Scenario]) -> None:
    spans = tuple(s for c in chosen for s in signals(c)[0])
    logs = tuple(r for c in chosen for r in signals(c)[1])
    alone = sorted((r for c in chosen for r in runs(c)), key=lambda r: (r.start_ns, r.run_id))
    assert runs_of(spans, logs) == alone


@pytest.mark.parametrize(
    "otherwise",
    [
        {"resource": {"service.name": "shop", "k8s.pod.name": "shop-7f"}},
        {"start_ns": 4},
        {"parent_span_id": "c" * 16},
        {"status_message": "gone"},
        {"scope_name": "another"},
        {"events": (SpanEvent("exception", 8),)},
        {"links": (SpanLink("d" * 32, "e" * 16),)},
        {"attributes": {"gen_ai.operation.name": "chat", "n": True}},
    ],
    ids=lambda otherwise: next(iter(otherwise)),
)
def test_of_versions_that_say_as_much_the_same_one_is_read(otherwise: dict[str, Any]) -> None:
    attributes = {"gen_ai.operation.name": "chat", "n": 1}
    one = Span("a" * 32, "b" * 16, start_ns=5, end_ns=9, attributes=attributes, events=(SpanEvent("other", 8),))
    other = replace(one, **otherwise)
    assert repr(read([one, other])) == repr(read([other, one]))
