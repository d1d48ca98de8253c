"""Whose a run is: anybody can send any ids, and who may see a run sees all of it."""

from __future__ import annotations

from dataclasses import replace

from otel_toolselect import assemble, dialects
from otel_toolselect.model.runs import TENANT, Run
from otel_toolselect.model.spans import LogRecord, Span, SpanLink
from tests.assemble.spans import BASE, agent, answer, calls, chat, runs, says, span, tool, user

ASK = user("where is my order?")
CALL = ("search", {"q": 1}, "c1")


def of(tenant: str, *spans: Span) -> list[Span]:
    return [replace(one, resource={**one.resource, TENANT: tenant}) for one in spans]


def told(found: list[Run]) -> dict[object, Run]:
    assert len({run.run_id for run in found}) == len(found)
    return {run.attributes[TENANT]: run for run in found}


def acme() -> list[Span]:
    return of(
        "acme",
        agent(),
        chat("m1", [ASK], [calls(CALL)], at=1, parent="agent"),
    )


def test_what_another_tenant_puts_below_a_span_is_no_part_of_the_run() -> None:
    globex = of(
        "globex",
        tool("t1", "search", {"q": 1}, "c1", at=2, parent="agent", gen_ai__tool__call__result="theirs"),
        chat("m2", [ASK, calls(CALL), answer("c1", "theirs")], [says("theirs")], at=3, parent="agent"),
    )
    found = told(runs(*acme(), *globex))
    assert found["acme"] == runs(*acme())[0]
    assert "theirs" not in repr(found["acme"])
    assert found["globex"] == runs(*globex)[0]


def test_equal_ids_of_two_tenants_are_two_runs_and_neither_hides_the_other() -> None:
    fuller = of("globex", agent(until=200, more="x"), chat("m1", [ASK], [says("theirs")], at=1, parent="agent", x="y"))
    for sent in ([*acme(), *fuller], [*fuller, *acme()]):
        found = told(runs(*sent))
        assert found["acme"] == runs(*acme())[0]
        assert found["globex"].final_text == "theirs"


def test_traces_of_two_tenants_are_not_stitched() -> None:
    emitted = of("acme", chat("m1", [ASK], [calls(CALL)], at=1, trace="1" * 32))
    followed = of(
        "globex",
        chat("m2", [ASK, calls(CALL), answer("c1", "theirs")], [says("theirs")], at=3, trace="2" * 32),
    )
    linked = replace(
        of("globex", tool("t", "book", {}, at=5, trace="3" * 32))[0], links=(SpanLink("1" * 32, emitted[0].span_id),)
    )
    found = runs(*emitted, *followed, linked)
    assert [run.trace_ids for run in found if run.attributes[TENANT] == "acme"] == [("1" * 32,)]
    assert all(run.attributes[TENANT] == "globex" for run in found if run.trace_ids != ("1" * 32,))


def test_log_records_belong_to_the_spans_of_their_own_tenant() -> None:
    silent = of("acme", span("m1", "chat", at=1, gen_ai__request__model="m"))[0]
    ours = LogRecord(
        silent.trace_id,
        silent.span_id,
        BASE + 10**9,
        event_name="gen_ai.choice",
        body={"index": 0, "message": {"role": "assistant", "content": "ours"}},
        resource=silent.resource,
    )
    theirs = replace(ours, time_ns=ours.time_ns + 1, resource={**silent.resource, TENANT: "globex"})
    for there in (theirs, replace(theirs, span_id="")):
        assert said([silent], [there]) == [None]
        assert said([silent], [there, ours]) == ["ours"]


def said(spans: list[Span], logs: list[LogRecord]) -> list[str | None]:
    return [run.final_text for run in assemble.assemble(dialects.read(spans, logs))]
