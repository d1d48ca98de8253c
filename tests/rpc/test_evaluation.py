"""EvaluationService over real gRPC, into a real store."""

from __future__ import annotations

import multiprocessing

import grpc
import pytest
from grpc_health.v1 import health_pb2

from otel_toolselect.client import RefusedError, TimedOutError
from otel_toolselect.errors import InputError, NotFoundError, SuiteError, TooLargeError, UsageError
from otel_toolselect.model.answers import ServedSuite
from otel_toolselect.rpc.service import NAMES
from tests.cli._spans import agent_trace
from tests.rpc import traffic
from tests.rpc.traffic import client, eventually, trace_id


def test_what_is_served(running) -> None:
    with client(running, "a") as asking:
        assert asking.suites() == (ServedSuite("shop", "suite", "2", 2), ServedSuite("guard", "rules", "", 1))


def test_a_stored_trace_by_the_name_of_a_suite_and_of_rules(running) -> None:
    with client(running, "all") as asking:
        (right,) = asking.evaluate_run(trace_id=trace_id(1), suite="shop").judgements
        (late,) = asking.evaluate_run(trace_id=trace_id(3), suite="shop").judgements
        guarded = asking.evaluate_run(trace_id=trace_id(2), suite="guard")
    assert (right.verdict.case_id, right.verdict.first_action, right.verdict.failure) == ("where", "find", None)
    assert late.verdict.layers["selection"].status == "fail"
    assert [(cell.expected, cell.observed) for cell in late.verdict.cells] == [("refund", "find")]
    assert late.verdict.findings
    assert (guarded.kind, guarded.runs, guarded.unmatched_runs) == ("rules", 1, 0)
    (ruled,) = guarded.judgements
    assert (ruled.severity, ruled.verdict.owner) == ("critical", "payments")


def test_a_run_by_its_id_against_a_suite_of_ones_own(running) -> None:
    with client(running, "a") as asking:
        run_id = asking.evaluate_run(trace_id=trace_id(1), suite="shop").judgements[0].verdict.run_id
        own = traffic.SUITE.replace("first: [find]", "first: [refund]").replace("suite: shop", "suite: mine")
        found = asking.evaluate_run(run_id=run_id, text=own)
    assert found.suite == "mine"
    assert [one.verdict.layers["selection"].status for one in found.judgements] == ["fail"]
    with client(running, "a") as asking:  # nothing of it was kept
        assert {s.decision.suite for s in traffic.judged(running, 6)} == {"shop", "guard"}
        assert [s.name for s in asking.suites()] == ["shop", "guard"]


def test_spans_in_the_request_are_judged_as_stored_ones_and_not_kept(running) -> None:
    with client(running, "a") as asking:
        stored = asking.evaluate_run(trace_id=trace_id(1), suite="shop")
        given = asking.evaluate_spans(traffic.message(traffic.where(1)), suite="shop")
        assert [one.verdict for one in given.judgements] == [one.verdict for one in stored.judgements]
        other = asking.evaluate_spans(traffic.message(traffic.where(91), traffic.wrong(92)), text=traffic.SUITE)
        assert [one.verdict.layers["selection"].status for one in other.judgements] == ["pass", "fail"]
        with pytest.raises(NotFoundError):
            asking.evaluate_run(trace_id=trace_id(91), suite="shop")


def test_spans_that_were_just_sent_are_found(running) -> None:
    traffic.send(running, "send-b", agent_trace(50, "anything", "Well."))
    with client(running, "b") as asking:
        found = asking.evaluate_run(trace_id=trace_id(50), suite="shop")
    assert (found.runs, found.unmatched_runs, found.judgements) == (1, 1, ())


def test_a_tenant_is_told_that_others_have_nothing(running) -> None:
    with client(running, "b") as theirs:
        run_id = theirs.evaluate_run(trace_id=trace_id(3), suite="shop").judgements[0].verdict.run_id
    with client(running, "a") as asking:
        for which in ({"trace_id": trace_id(3)}, {"run_id": run_id}):
            with pytest.raises(NotFoundError, match=f"no (trace|run) '{next(iter(which.values()))}'"):
                asking.evaluate_run(**which, suite="shop")
            with pytest.raises(NotFoundError):
                asking.evaluate_label(["refund"], **which)


def test_spans_of_another_tenant_in_ones_own_trace_are_not_seen(running) -> None:
    mixed = agent_trace(60, "refund A-1", "Done.", ("refund", {"id": "A-1"}, "the secret of b"))
    traffic.send(running, "send-b", mixed)
    foreign = agent_trace(60, "where is my order?", "No.").replace(
        '"spanId": "000000000000000', '"spanId": "00000000000000a'
    )
    traffic.send(running, "send-a", foreign)
    with client(running, "a") as asking:
        found = asking.evaluate_run(trace_id=trace_id(60), suite="shop")
    assert "secret" not in repr(found)
    assert [one.verdict.first_action for one in found.judgements] == ["none"]


@pytest.mark.parametrize("name", [None, "nobody"])
def test_strangers_are_refused(running, name) -> None:
    with client(running, name) as asking:
        for call in (
            asking.suites,
            lambda: asking.evaluate_run(trace_id=trace_id(1), suite="shop"),
            lambda: asking.evaluate_spans(b"", suite="shop"),
            lambda: asking.evaluate_label(trace_id=trace_id(1)),
        ):
            with pytest.raises(RefusedError, match="bearer token"):
                call()


def test_who_may_only_send_may_not_ask(running) -> None:
    with client(running, "send-a") as asking, pytest.raises(RefusedError, match="may not read"):
        asking.suites()


def test_every_mistake_of_a_suite_with_its_place(running) -> None:
    broken = "suite: x\ncases:\n  - id: a\n    promt: hello\n  - {id: b, prompt: p, expect: {frist: [t]}}\n"
    with client(running, "a") as asking, pytest.raises(SuiteError) as caught:
        asking.evaluate_run(trace_id=trace_id(1), text=broken, file_name="mine.yaml")
    assert [(p.path, p.line) for p in caught.value.problems] == [("mine.yaml", 3), ("mine.yaml", 4), ("mine.yaml", 5)]
    assert "did you mean 'prompt'" in str(caught.value)


def test_thousands_of_mistakes_are_answered_with_the_first(running) -> None:
    broken = "suite: x\ncases:\n" + "".join(f"  - {{id: c{i}, prömpt: 'ü{i}'}}\n" for i in range(3_000))
    with client(running, "a") as asking, pytest.raises(SuiteError) as caught:
        asking.evaluate_run(trace_id=trace_id(1), text=broken)
    assert 3 < len(caught.value.problems) < 50


HOSTILE = {
    "no yaml": ("\x00\xff", "suite.yaml"),
    "a bomb": (
        "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a]\nsuite: [*b, *b, *b, *b]\n",
        "s.yaml",
    ),
    "deep": ("suite: x\ncases: " + "[" * 5_000, "suite.yaml"),
    "alerts": ("alerts: x\n", "alerts.yaml"),
    "a name of another file": (traffic.SUITE, "../../etc/passwd\n"),
    "empty": ("", "suite.yaml"),
    "half of a pair": ('suite: "\\ud800"\ncases: [{id: a, prompt: p, expect: {first: [f]}}]', "suite.yaml"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_suites_are_answered_and_the_server_goes_on(running, kind) -> None:
    text, file_name = HOSTILE[kind]
    with client(running, "a") as asking:
        if kind == "half of a pair":
            assert asking.evaluate_run(trace_id=trace_id(1), text=text).suite == "�"
        else:
            with pytest.raises(InputError):
                asking.evaluate_run(trace_id=trace_id(1), text=text, file_name=file_name)
        assert asking.evaluate_run(trace_id=trace_id(1), suite="shop").runs == 1


def test_hostile_spans_and_sizes(running) -> None:
    with client(running, "a") as asking:
        for bad in (b"\xff\xff", b"not otlp at all", traffic.message(traffic.where(1))[:-7]):
            with pytest.raises(InputError, match="traces_data"):
                asking.evaluate_spans(bad, suite="shop")
        with pytest.raises(InputError, match="logs_data"):
            asking.evaluate_spans(traffic.message(traffic.where(1)), b"\xff\xff", suite="shop")
        with pytest.raises(InputError, match="holds no spans"):
            asking.evaluate_spans(b"", suite="shop")
        with pytest.raises(TooLargeError):
            asking.evaluate_spans(bytes(21 * 2**20), suite="shop")
        with pytest.raises(TooLargeError, match="1,048,576"):
            asking.evaluate_spans(traffic.message(traffic.where(1)), text="#" * 2**21)
        with pytest.raises(NotFoundError, match="there are shop, guard"):
            asking.evaluate_run(trace_id=trace_id(1), suite="shopp")


def test_questions_that_can_be_none_are_not_asked(running) -> None:
    with client(running, "a") as asking:
        for wrong in (
            lambda: asking.evaluate_run(suite="shop"),
            lambda: asking.evaluate_run(run_id="r", trace_id="t", suite="shop"),
            lambda: asking.evaluate_run(run_id="r"),
            lambda: asking.evaluate_label("refund", run_id="r"),
        ):
            with pytest.raises(UsageError):
                wrong()
        with pytest.raises(InputError, match="neither a run nor a trace"):
            asking.evaluate_run(run_id="", suite="shop")
        with pytest.raises(InputError, match="no suite or rule file"):
            asking.evaluate_run(run_id="r", suite="")


def test_a_suite_that_takes_too_long_is_given_up_and_others_go_on(running) -> None:
    """Reading it alone takes longer than anybody waits here; the process that does is not left to go on."""
    cases = "".join(f"  - {{id: c{i}, prompt: p{i}, expect: {{first: [find]}}}}\n" for i in range(18_000))
    endless = f"suite: s\ncases:\n{cases}"
    with client(running, "a", timeout_s=1.5) as hasty, pytest.raises(TimedOutError):
        hasty.evaluate_run(trace_id=trace_id(1), text=endless)
    assert eventually(lambda: not multiprocessing.active_children())
    with client(running, "a") as asking:
        assert asking.evaluate_run(trace_id=trace_id(1), text=traffic.SUITE).runs == 1


def test_health_says_serving_for_each_service(running) -> None:
    with grpc.insecure_channel(running.grpc) as channel:
        assert NAMES == (
            "toolselect.v1.EvaluationService",
            "toolselect.v1.ConfusionService",
            "toolselect.v1.VerdictService",
        )
        for name in ("", *NAMES):
            assert traffic.health(channel, name) == health_pb2.HealthCheckResponse.SERVING
        # a message that is none of the method's
        call = channel.unary_unary("/toolselect.v1.EvaluationService/EvaluateRun")
        for bad in (b"\xff\xff\xff", b"\x0a\xff"):
            with pytest.raises(grpc.RpcError) as caught:
                call(bad, metadata=(("authorization", f"Bearer {traffic.token('a')}"),), timeout=60)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert traffic.health(channel, NAMES[0]) == health_pb2.HealthCheckResponse.SERVING
