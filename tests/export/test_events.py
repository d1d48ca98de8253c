"""What an event holds, against the names of the semantic conventions."""

from __future__ import annotations

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names

from otel_toolselect.assemble import run_id
from otel_toolselect.export.events import event_of, is_judged, key_of, root_of
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Kept
from tests.store.builders import decision

TRACE = "0af7651916cd43dd8448eb211c80319c"
ROOT = "b7ad6b7169203331"
WRONG = decision(
    run_id(TRACE, ROOT),
    "shop",
    rule="no-blind-refund",
    trace_id=TRACE,
    status="fail",
    first_action="get_invoice",
    cells=(Cell("issue_refund", "get_invoice"),),
    layers={"selection": "fail", "arguments": "pass"},
    failure="wrong_tool",
    agent="support",
    provider="acme",
    model="m-1",
)


def test_the_attributes_are_those_of_the_conventions() -> None:
    found = event_of(Kept(WRONG, 17), ROOT).attributes
    assert found[names.GEN_AI_EVALUATION_NAME] == "shop/no-blind-refund"
    assert found[names.GEN_AI_EVALUATION_SCORE_LABEL] == "fail"
    assert found[names.GEN_AI_EVALUATION_SCORE_VALUE] == 0.0
    assert found[names.GEN_AI_EVALUATION_EXPLANATION] == (
        "failed: selection; expected issue_refund, observed get_invoice; wrong_tool"
    )
    assert (found[names.GEN_AI_AGENT_NAME], found[names.GEN_AI_PROVIDER_NAME]) == ("support", "acme")
    assert found[names.GEN_AI_REQUEST_MODEL] == "m-1"
    assert found["toolselect.layer.selection"] == "fail"
    assert found["toolselect.decision.key"] == key_of(WRONG)
    assert found["toolselect.decision.version"] == 17
    others = {name for name in found if not name.startswith("toolselect.")}
    assert others <= {value for name, value in vars(names).items() if name.startswith("GEN_AI_")}


def test_the_event_lies_beside_the_root_of_its_run() -> None:
    assert root_of(WRONG, ["0000000000000001", ROOT]) == ROOT
    event = event_of(Kept(WRONG, 17), ROOT)
    assert (event.trace_id, event.span_id, event.time_ns) == (int(TRACE, 16), int(ROOT, 16), 17)
    rootless = event_of(Kept(WRONG, 17), root_of(WRONG, ["0000000000000001"]))
    assert (rootless.trace_id, rootless.span_id) == (int(TRACE, 16), 0)
    assert event_of(Kept(decision(trace_id="t1"), 1), ROOT).span_id == 0


def test_only_pass_and_fail_have_a_score() -> None:
    passed = event_of(Kept(decision(), 1), None).attributes
    assert passed["gen_ai.evaluation.score.value"] == 1.0
    left_out = event_of(Kept(decision(status="excluded", excluded="infra", cells=()), 1), None).attributes
    assert "gen_ai.evaluation.score.value" not in left_out
    assert left_out["gen_ai.evaluation.explanation"] == "left out of the figures: infra"


def test_key_and_content_tell_decisions_and_what_they_say_apart() -> None:
    first, again = event_of(Kept(WRONG, 1), ROOT), event_of(Kept(WRONG, 2), ROOT)
    assert (first.key, first.content) == (again.key, again.content)
    other = event_of(Kept(decision(WRONG.run_id, "shop", rule="no-blind-refund"), 3), ROOT)
    assert other.key == first.key
    assert other.content != first.content
    assert key_of(decision("r", "a", rule="bc")) != key_of(decision("r", "ab", rule="c"))


def test_names_out_of_traces_can_always_be_sent() -> None:
    odd = decision(first_action="x\ud800" + "y" * 5000, cells=(Cell("a\udfff", "b"),))
    found = event_of(Kept(odd, 1), None).attributes
    assert str(found["toolselect.first_action"]).startswith("x?yyy")
    assert len(str(found["toolselect.first_action"])) == 1000
    assert found["toolselect.expected"] == ["a?"]


def test_a_run_that_nobody_expected_anything_of_is_no_evaluation() -> None:
    assert is_judged(decision())
    assert not is_judged(decision(suite=""))
