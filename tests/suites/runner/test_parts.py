"""Plan, carriers, masks, answers, folder, collector: each by itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import baggage, propagate, trace
from opentelemetry.sdk.resources import OTELResourceDetector

from otel_toolselect.assemble import DEFAULT_ATTRIBUTES, catalog_id
from otel_toolselect.config import Redact
from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.model.catalogs import Catalog
from otel_toolselect.model.spans import Batch, Span
from otel_toolselect.reports import catalogs_json
from otel_toolselect.rules import Case, Suite, parse_suite
from otel_toolselect.suites.runner import Done, Folder, Header, choose, plan
from otel_toolselect.suites.runner.answers import Answer, Call, find_answer, read_answer
from otel_toolselect.suites.runner.carriers import TRIAL_ID, Carriers, Names, as_argument, inherited
from otel_toolselect.suites.runner.catalogs import Offer, PinnedCatalog, read_offer, read_offers, read_tools
from otel_toolselect.suites.runner.collecting import Collector
from otel_toolselect.suites.runner.folder import digest_of, file_of
from otel_toolselect.suites.runner.masking import Masker, passwords_in, secrets_of, shown_url
from otel_toolselect.suites.runner.plan import Attempt
from otel_toolselect.suites.runner.target import failed
from otel_toolselect.suites.runner.targets.exec import filled, reason

SUITE = parse_suite(
    """
suite: s
cases:
  - {id: a, prompt: A, tags: {bucket: core, x: '1'}, expect: {class: none}}
  - {id: b, prompt: B, tags: {bucket: core}, expect: {class: none}}
  - {id: c, expect: {class: none}}
""",
    path="s.yaml",
)


def attempt(case_id: str = "a", number: int = 1, prompt: str = "A") -> Attempt:
    return Attempt(replace(SUITE.cases[0], id=case_id, prompt=prompt), number)


# --- plan


def ids(suite: Suite) -> list[str]:
    return [case.id for case in suite.cases]


def test_choosing_cases() -> None:
    assert ids(choose(SUITE, [], {})) == ["a", "b", "c"]
    assert ids(choose(SUITE, ["c", "a"], {})) == ["a", "c"]
    assert ids(choose(SUITE, [], {"bucket": "core"})) == ["a", "b"]
    assert ids(choose(SUITE, ["b", "a"], {"bucket": "core", "x": "1"})) == ["a"]
    with pytest.raises(UsageError, match="no case 'z'"):
        choose(SUITE, ["z"], {})
    with pytest.raises(UsageError, match="bucket=other"):
        choose(SUITE, [], {"bucket": "other"})


def test_rounds() -> None:
    assert [a.key for a in plan(SUITE, 2)] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    with pytest.raises(UsageError, match="no chosen case of s has a prompt"):
        plan(choose(SUITE, ["c"], {}), 1)


def test_a_seed_gives_one_order() -> None:
    many = replace(SUITE, cases=tuple(replace(SUITE.cases[0], id=str(n)) for n in range(30)))
    order = [a.key for a in plan(many, 2, seed=7)]
    assert order == [a.key for a in plan(many, 2, seed=7)]
    assert order != [a.key for a in plan(many, 2, seed=8)] != [a.key for a in plan(many, 2)]
    assert {number for _, number in order[:30]} == {1}
    assert sorted(order) == sorted(a.key for a in plan(many, 2))


# --- carriers

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()  # OpenTelemetry strips them
)


@given(NAMES, NAMES, st.integers(1, 99))
def test_what_travels_is_read_by_opentelemetry(case_id: str, suite: str, number: int) -> None:
    """Values of any kind arrive whole: over HTTP, by environment carriers, and as resource attributes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OTEL_RESOURCE_ATTRIBUTES", raising=False)
        trial = Carriers(suite, "exp 1, new", "http://127.0.0.1:1").trial(attempt(case_id, number))
        wanted = {
            "toolselect.case.id": case_id,
            "toolselect.suite": suite,
            "toolselect.attempt": str(number),
            "toolselect.label": "exp 1, new",
        }
        for headers in (trial.headers, {k.lower(): trial.environment[k] for k in ("TRACEPARENT", "BAGGAGE")}):
            context = propagate.extract(headers)
            assert dict(baggage.get_all(context)) == wanted
            span = trace.get_current_span(context).get_span_context()
            assert f"{span.trace_id:032x}" == trial.trace_id
            assert f"{span.span_id:016x}" == trial.span_id
            assert span.trace_flags.sampled
        patch.setenv("OTEL_RESOURCE_ATTRIBUTES", trial.environment["OTEL_RESOURCE_ATTRIBUTES"])
        found = dict(OTELResourceDetector().detect().attributes)
        assert found == {**wanted, TRIAL_ID: trial.span_id}


def test_the_environment_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=mine")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://elsewhere")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=x")
    monkeypatch.setenv("TOOLSELECT_RUN_KEY", "the model's")
    trial = Carriers("s", endpoint="http://127.0.0.1:9", names=Names(case_id="my.case")).trial(attempt())
    found = inherited({"EXTRA": "1"}, trial.environment)
    assert found["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://127.0.0.1:9"
    assert found["OTEL_EXPORTER_OTLP_PROTOCOL"] == "http/protobuf"
    assert "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" not in found  # it would win
    assert "OTEL_EXPORTER_OTLP_HEADERS" not in found  # meant for another place
    assert found["OTEL_RESOURCE_ATTRIBUTES"].startswith("service.name=mine,my.case=a,")
    assert found["TOOLSELECT_CASE_ID"] == "a"
    assert "TOOLSELECT_LABEL" not in found
    assert "TOOLSELECT_RUN_KEY" not in found  # none of the agent's business
    assert found["EXTRA"] == "1"
    untold = inherited({}, Carriers("s").trial(attempt()).environment)
    assert untold["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == "http://elsewhere"


@given(st.text(), st.text())
def test_a_prompt_stays_one_argument(prompt: str, case_id: str) -> None:
    values = {"prompt": prompt, "case_id": case_id, "attempt": "1"}
    assert filled("{prompt}", values) == as_argument(prompt)
    assert filled('{"x": "{attempt}"}', values) == '{"x": "1"}'


# --- masks


def test_what_is_secret() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-1",
        "DB_PASSWORD": "hunter22",
        "TOKENIZERS_PARALLELISM": "false",
        "PATH": "/bin:/usr",
    }
    found = secrets_of(environment, {"Authorization": "Bearer abcdefgh", "X-Trace": "12345678"}, "")
    assert found == {"hunter22", "Bearer abcdefgh", "abcdefgh"}
    assert passwords_in("http://me:s3cret@host/x?api_key=k3y&a=b") == {"s3cret", "k3y"}


def test_an_address_is_shown_without_its_secrets() -> None:
    assert shown_url("http://me:s3cret@host:1/x?api_key=k3y") == "http://me:***@host:1/x?api_key=***"
    assert shown_url("http://host/x") == "http://host/x"


def test_masking() -> None:
    masker = Masker({"hunter22", "a+b(c)d.e"}, Redact())
    assert masker.text("password is hunter22, a+b(c)d.e") == "password is ***, ***"
    assert "abcdefghijklmnop" not in masker.text("Bearer abcdefghijklmnop")
    span = Span("0" * 31 + "1", "0" * 15 + "1", attributes={"x": '{"k": "hunter22"}', "toolselect.case.id": "a"})
    kept = masker.batch(Batch((span,))).spans[0]
    assert kept.attributes == {"x": '{"k": "***"}', "toolselect.case.id": "a"}


# --- answers

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


@pytest.mark.parametrize(
    ("value", "calls", "text"),
    [
        ({"choices": [{"message": {"content": None, "tool_calls": [CALL]}}]}, (Call("f", {"x": 1}, "c1"),), ""),
        ({"choices": [{"message": {"content": "Hi"}}]}, (), "Hi"),
        ({"tool_calls": [CALL], "content": "Hi"}, (Call("f", {"x": 1}, "c1"),), "Hi"),
        ({"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "tool_calls": []}, (), "Hi"),
        ({"calls": [{"name": "f", "args": {"x": 1}}], "text": "t"}, (Call("f", {"x": 1}),), "t"),
        ({"calls": [{"name": "f", "args": {}, "result": None}]}, (Call("f", {}, executed=True),), ""),
        ({"calls": [{"name": "f", "error": "bad"}]}, (Call("f", {}, error="bad", executed=True),), ""),
        ({"calls": [{"name": "f", "args": "not json"}]}, (Call("f", "not json"),), ""),
        ({"calls": [{"no": "name"}, 3]}, (), ""),
    ],
)
def test_an_answer_that_states_its_calls(value: Any, calls: Sequence[Call], text: str) -> None:
    assert read_answer(value) == Answer(tuple(calls), text)


@pytest.mark.parametrize("value", [None, "text", 3, [], {}, {"answer": "Hi"}, {"content": "Hi"}, {"tool_calls": "x"}])
def test_an_answer_that_states_nothing(value: Any) -> None:
    assert read_answer(value) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["calls", "tool_calls", "choices", "message", "function", "name", "arguments", "usage", "content"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_answer_stops_the_run(value: Any) -> None:
    read_answer(value)
    find_answer(json.dumps(value))


def test_the_answer_of_a_program() -> None:
    assert find_answer('{"calls": []}') == Answer(())
    assert find_answer('starting\n{"calls": [{"name": "f"}]}\n') == Answer((Call("f", {}),))
    assert find_answer("no json {") is None


# --- catalogs

TOOLS = [{"type": "function", "function": {"name": "f", "description": "F", "parameters": {"type": "object"}}}]


def test_catalogs_in_each_form(tmp_path: Path) -> None:
    forms = [
        TOOLS,
        {"tools": TOOLS},
        {"result": {"tools": [{"name": "f", "description": "F", "inputSchema": {"type": "object"}}]}},
        [{"name": "f", "description": "F", "input_schema": {"type": "object"}}],
    ]
    for form in forms:
        path = tmp_path / "c.json"
        path.write_text(json.dumps(form), "utf-8")
        assert read_offer(str(path)).tools == read_tools(TOOLS, "")


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[]", '[{"description": "x"}]', '{"tools": [1]}', '[{"name": "f"}, {"name": "f"}]']
)
def test_a_bad_catalog_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"c\.json"):
        read_offer(str(path))


def test_catalogs_that_were_seen_in_traces(tmp_path: Path) -> None:
    """What `catalog list` writes is offered again under the same id."""
    tools = read_tools([*TOOLS, {"name": "g"}], "")
    seen = [Catalog("sha256:1", tools, 3), Catalog("sha256:2", tools[:1], 1)]
    path = tmp_path / "catalogs.json"
    path.write_text(catalogs_json(seen), "utf-8")
    assert [catalog_id(offer.tools) for offer in read_offers(str(path))] == [catalog_id(c.tools) for c in seen]


def test_a_case_may_pin_a_catalog_by_its_id() -> None:
    one, two = Offer(read_tools(TOOLS, "")), Offer(read_tools([{"name": "g"}], ""))
    pinned = Attempt(replace(SUITE.cases[0], catalog=catalog_id(two.tools)), 1)
    assert PinnedCatalog((one, two)).offered(pinned) == two.tools
    with pytest.raises(UsageError, match="no --catalog file holds"):
        PinnedCatalog((one,)).offered(pinned)
    alias: Case = replace(SUITE.cases[0], tools=("find",))
    assert PinnedCatalog((one,), (("f", "find"),)).offered(Attempt(alias, 1)) == one.tools


# --- folder


def done(of: Attempt) -> Done:
    return Done(of.case.id, of.number, digest_of(of), file_of(of), "spans", 0.1)


def test_a_line_that_was_cut_short_costs_its_attempt_only(tmp_path: Path) -> None:
    header = Header("s", "exec true")
    first, second, third = attempt("a"), attempt("b"), attempt("ü/../x")
    folder = Folder(tmp_path, header)
    folder.keep(done(first), ["{}"])
    folder.keep(done(second), ["{}"])
    text = folder.journal.read_bytes()
    folder.journal.write_bytes(text[:-20])
    again = Folder(tmp_path, header)
    assert again.done(first) == done(first)
    assert again.done(second) is None
    with again.locked():
        again.keep(done(third), ["{}"])
    last = Folder(tmp_path, header)
    assert last.done(third) == done(third)
    assert last.traces([first, second, third]) == [str(tmp_path / file_of(a)) for a in (first, third)]
    assert all(path.parent == tmp_path / "traces" for path in map(Path, last.traces([first, third])))


def test_a_folder_of_another_run(tmp_path: Path) -> None:
    Folder(tmp_path, Header("s", "exec true"))
    with pytest.raises(UsageError, match="'exec true', not 'exec false'"):
        Folder(tmp_path, Header("s", "exec false"))
    (tmp_path / "run.json").write_text("nonsense", "utf-8")
    with pytest.raises(InputError, match="no run folder"):
        Folder(tmp_path, Header("s", "exec true"))


def test_files_of_like_names_differ() -> None:
    assert len({file_of(attempt(name)) for name in ("a b", "a-b", "a/b", "A b", "a b" * 50)}) == 5


# --- collector

CARRIERS = Carriers("s")


def span(trace_id: str, span_id: str, **attributes: Any) -> Span:
    named = {k.replace("__", "."): v for k, v in attributes.items()}
    return Span(trace_id * 32, span_id * 16, attributes={"gen_ai.operation.name": "chat", **named})


def gathered(collector: Collector, trial: Any) -> list[str]:
    spans, _ = collector.gather(trial, lambda *_: True, 0.0, threading.Event())
    return sorted(one.span_id[0] for one in spans)


def test_whose_spans_are_whose() -> None:
    collector = Collector(DEFAULT_ATTRIBUTES)
    one, two = CARRIERS.trial(attempt("a", 1)), CARRIERS.trial(attempt("a", 2))
    collector.open(one)
    collector.open(two)
    collector.insert(
        [
            Span(one.trace_id, "1" * 16),  # continues the trace
            span("b", "2", toolselect__case__id="a", toolselect__attempt=2),  # names case and attempt
            span("b", "3"),  # is of the same trace
            replace(span("c", "4"), resource={TRIAL_ID: one.span_id}),  # names the very try
            span("d", "5"),  # anybody's, while two are under way
            span("e", "6", toolselect__case__id="a"),  # which attempt?
            replace(span("f", "7"), resource={TRIAL_ID: "an earlier try"}, attributes={"toolselect.case.id": "a"}),
        ],
        [],
    )
    assert gathered(collector, one) == ["1", "4"]
    assert gathered(collector, two) == ["2", "3"]


def test_one_attempt_under_way_owns_what_names_nobody() -> None:
    collector = Collector(DEFAULT_ATTRIBUTES)
    trial = CARRIERS.trial(attempt())
    collector.open(trial)
    collector.insert([span("d", "5")], [])
    assert gathered(collector, trial) == ["5"]
    collector.insert([Span(trial.trace_id, "9" * 16)], [])
    assert gathered(collector, trial) == []  # too late


def test_waiting_ends_with_the_condition_or_the_time() -> None:
    collector = Collector(DEFAULT_ATTRIBUTES)
    trial = CARRIERS.trial(attempt())
    collector.open(trial)
    root = span("a", "1", gen_ai__operation__name="invoke_agent")
    sender = threading.Thread(
        target=lambda: [collector.insert([span("a", "2")], []), collector.insert([replace(root, end_ns=1)], [])]
    )
    sender.start()
    spans, _ = collector.gather(trial, lambda found, _: len(found) == 2, 60.0, threading.Event())
    sender.join()
    assert len(spans) == 2
    other = CARRIERS.trial(attempt("b"))
    collector.open(other)
    assert collector.gather(other, lambda *_: False, 0.05, threading.Event()) == ([], [])
    stop = threading.Event()
    stop.set()
    collector.open(other)
    assert collector.gather(other, lambda *_: False, 60.0, stop) == ([], [])


# --- whose fault


@pytest.mark.parametrize(
    ("said", "infra"),
    [
        ("openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow down'}}", True),
        ("pydantic_ai.exceptions.ModelHTTPError: status_code: 429, model_name: gpt-4o-mini", True),
        ("openai.APIConnectionError: Connection error.", True),
        ("httpx.ReadTimeout: timed out", True),
        ("openai.BadRequestError: Error code: 400 - bad tools", False),
        ("KeyError: 'order 429'", False),
        ("it said nothing on stderr", False),
    ],
)
def test_whose_fault_it_is(said: str, infra: bool) -> None:
    found = failed("exit code 1", said)
    assert (found.fault is not None) == infra
    assert (found.trouble is None) == infra


def test_the_line_that_says_why() -> None:
    trace = "Traceback (most recent call last):\n  File x\n    raise ValueError\nValueError: no such order\n"
    assert reason(f"{trace}[non-fatal] Tracing: could not export\n") == "ValueError: no such order"
    assert reason("some words\nmore words\n") == "more words"
    assert reason("   \n") == "it said nothing on stderr"
