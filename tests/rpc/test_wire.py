"""Data to messages and back: equal, whatever they hold."""

from __future__ import annotations

import json
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.model.alerting import Scope, Window
from otel_toolselect.model.answers import Evaluation, Judgement, LabelOutcome, ServedSuite, Windowed
from otel_toolselect.model.decisions import Decision, Origin
from otel_toolselect.model.verdicts import (
    LAYERS,
    CallScore,
    Cell,
    Exclusion,
    Finding,
    LayerVerdict,
    RunVerdict,
    Status,
)
from otel_toolselect.rpc import decoding, encoding
from otel_toolselect.rpc.gen import verdict_pb2
from otel_toolselect.stats.confusion import confusion_of
from otel_toolselect.stats.rates import rate

EXAMPLES = settings(max_examples=25)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
maybe = st.none() | text
layers = st.sampled_from(LAYERS)
statuses = st.sampled_from(get_args(Status))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
evidence = st.dictionaries(text, json_values, max_size=3)
cells = st.lists(st.builds(Cell, text, text), max_size=3).map(tuple)
flagged = st.lists(st.tuples(text, st.booleans()), max_size=3).map(tuple)
names = st.lists(text, max_size=3).map(tuple)
sizes = st.none() | st.integers(0, 2**63 - 1)
times = st.integers(0, 2**64 - 1)
excluded = st.none() | st.sampled_from(get_args(Exclusion))

verdicts = st.builds(
    RunVerdict,
    run_id=text,
    trace_id=text,
    suite=text,
    case_id=text,
    first_action=text,
    observed_class=text,
    layers=st.dictionaries(layers, st.builds(LayerVerdict, statuses, text, evidence), max_size=3),
    parent_run_id=maybe,
    attempt=st.none() | st.integers(0, 2**31 - 1),
    label=maybe,
    request=maybe,
    risk=maybe,
    tags=st.dictionaries(text, text, max_size=3),
    cells=cells,
    call_scores=st.lists(st.builds(CallScore, st.integers(0, 99), text, st.booleans()), max_size=2).map(tuple),
    findings=st.lists(st.builds(Finding, text, layers, statuses, text, evidence), max_size=3).map(tuple),
    excluded=excluded,
    failure=maybe,
    owner=maybe,
    policy_version=maybe,
    model=maybe,
    prompt_version=maybe,
    catalog_id=maybe,
    start_ns=times,
)
decisions = st.builds(
    Decision,
    suite=text,
    rule=text,
    run_id=text,
    trace_id=text,
    case_id=text,
    start_ns=times,
    status=statuses,
    first_action=text,
    observed_class=text,
    cells=cells,
    layers=st.dictionaries(layers, statuses, max_size=3),
    excluded=excluded,
    failure=maybe,
    owner=maybe,
    severity=st.sampled_from(["", "info", "warning", "critical"]),
    risk=maybe,
    origin=st.sampled_from(get_args(Origin)),
    service=text,
    agent=maybe,
    provider=maybe,
    model=maybe,
    prompt_version=maybe,
    catalog_id=maybe,
    tenant=text,
    label=maybe,
    policy_version=maybe,
    calls=flagged,
    scored=flagged,
    ghosts=names,
    forbidden=names,
    unauthorized=names,
    failed_calls=st.integers(0, 2**32 - 1),
    loops=st.integers(0, 2**32 - 1),
    duration_ns=sizes,
    input_tokens=sizes,
    output_tokens=sizes,
    cost_usd=st.none() | st.floats(0, 1e9),
    counts=st.booleans(),
)


def sent(message: Any) -> Any:
    """As it arrives."""
    return type(message).FromString(message.SerializeToString())


@EXAMPLES
@given(verdicts)
def test_verdicts(found: RunVerdict) -> None:
    assert decoding.verdict(sent(encoding.verdict(found))) == found


@EXAMPLES
@given(decisions)
def test_decisions(found: Decision) -> None:
    assert decoding.decision(sent(encoding.decision(found))) == found


@EXAMPLES
@given(st.dictionaries(st.tuples(text, text), st.integers(1, 1000), max_size=6), st.integers(0, 2**62), maybe)
def test_windows(counted: dict[tuple[str, str], int], start: int, agent: str | None) -> None:
    found = Windowed(
        Window(start, start + 10**9),
        () if agent is None else (("agent", agent),),
        rate(sum(n for (a, b), n in counted.items() if a == b), sum(counted.values())),
        confusion_of({Cell(*pair): n for pair, n in counted.items()}),
    )
    assert decoding.windowed(sent(encoding.windowed(found))) == found


@given(names, st.none() | st.tuples(text, text), st.lists(st.sampled_from(get_args(Origin)), max_size=2).map(tuple))
@EXAMPLES
def test_scopes(some: tuple[str, ...], pair: tuple[str, str] | None, origin: tuple[str, ...]) -> None:
    found = Scope(some, some, some, some, some, some, some, some, some, origin, pair)
    assert decoding.scope(sent(encoding.scope(found))) == found


@settings(max_examples=10)
@given(verdicts, decisions)
def test_answers(verdict: RunVerdict, decision: Decision) -> None:
    evaluation = Evaluation("s", "rules", (Judgement(verdict, "critical"), Judgement(verdict)), 3, 1, ("w",))
    assert decoding.evaluation_of(sent(encoding.evaluation_of(evaluation))) == evaluation
    outcome = LabelOutcome("r", True, verdict, (decision,), True, False)
    assert decoding.label_outcome(sent(encoding.label_outcome(outcome))) == outcome
    served = (ServedSuite("a", "suite", "1", 80), ServedSuite("b", "rules"))
    assert decoding.served(sent(encoding.served(served))) == served


def test_half_of_a_surrogate_pair_and_numbers_beyond_a_message() -> None:
    decision = Decision("s", "", "r", "t", "", 0, "pass", "to\ud800ol", "call", input_tokens=2**70)
    arrived = decoding.decision(sent(encoding.decision(decision)))
    assert (arrived.first_action, arrived.input_tokens) == ("to�ol", 2**63 - 1)
    finding = {"big": 2**80, "half": "\udc00", "pair": ("a", 1)}
    assert json.loads(encoding.json_text(finding)) == {"big": 2**80, "half": "\udc00", "pair": ["a", 1]}


def test_words_of_a_newer_server_are_unknown_and_no_error() -> None:
    message = verdict_pb2.Decision(status=99, origin=77, excluded=55)  # type: ignore[arg-type]
    message.layers.add(layer=44, status=1)  # type: ignore[arg-type]
    found = decoding.decision(sent(message))
    assert (found.status, found.origin, found.excluded, dict(found.layers)) == (
        "unknown",
        "unknown",
        "unknown",
        {"unknown": "pass"},
    )
