"""EvaluateLabel: what would follow, who may keep it, and whose it is then."""

from __future__ import annotations

import pytest

from otel_toolselect.client import RefusedError
from otel_toolselect.errors import InputError
from tests.rpc.traffic import client, trace_id


def labelled(running, name="all"):
    with client(running, name) as asking, asking.stream_verdicts(from_beginning=True, suites=["labels"]) as stream:
        return next(stream).decision


def test_what_would_follow_is_said_and_not_kept(running) -> None:
    with client(running, "a") as asking:
        wrong = asking.evaluate_label(["refund"], trace_id=trace_id(1), strange=True)
        right = asking.evaluate_label(["find"], trace_id=trace_id(1))
        unsaid = asking.evaluate_label(trace_id=trace_id(1))
    assert (wrong.accepts, wrong.verdict.layers["selection"].status, wrong.stored) == (False, "fail", False)
    assert [(c.expected, c.observed) for c in wrong.verdict.cells] == [("refund", "find")]
    assert (right.accepts, right.verdict.layers["selection"].status) == (True, "pass")
    assert (unsaid.accepts, unsaid.verdict.layers["selection"].status, unsaid.verdict.cells) == (False, "fail", ())
    (decision,) = wrong.decisions
    assert (decision.origin, decision.status, decision.tenant, decision.counts) == ("person", "fail", "a", True)
    assert running.store.labels.of_runs([wrong.run_id]) == ()


def test_a_tool_that_was_not_offered_has_to_be_meant(running) -> None:
    with client(running, "a") as asking, pytest.raises(InputError, match="allow_not_offered names 'fynd' anyway"):
        asking.evaluate_label(["fynd"], trace_id=trace_id(1))


def test_only_labellers_keep_labels_and_in_their_own_name(running) -> None:
    with client(running, "a") as reader, pytest.raises(RefusedError, match="a may not label"):
        reader.evaluate_label(["find"], trace_id=trace_id(1), store=True)
    with client(running, "ann") as ann:
        with pytest.raises(RefusedError, match="in its own name only"):
            ann.evaluate_label(["find"], trace_id=trace_id(1), store=True, labeller="raj")
        kept = ann.evaluate_label(["find"], trace_id=trace_id(2), strange=True, store=True, note="look first")
        again = ann.evaluate_label(["find"], trace_id=trace_id(2), strange=True, store=True, note="look first")
    assert (kept.stored, kept.changed, kept.accepts) == (True, True, False)
    assert (again.stored, again.changed) == (True, False)
    (label,) = running.store.labels.of_runs([kept.run_id])
    assert (label.labeller, label.expected, label.note, label.source) == ("ann", ("find",), "look first", "person")
    for name in ("all", "a"):  # whose it is was not lost with the attributes of the run
        decision = labelled(running, name)
        assert (decision.run_id, decision.status, decision.tenant) == (kept.run_id, "fail", "a")
    with client(running, "boss") as boss:
        assert boss.evaluate_label(["refund"], run_id=kept.run_id, store=True, labeller="raj").changed
    assert {x.labeller for x in running.store.labels.of_runs([kept.run_id])} == {"ann", "raj"}
    noted = running.store.audit.read(tenant=None).entries
    assert [(one.actor, one.via, one.address, one.tenant, one.detail["labeller"]) for one in noted] == [
        ("boss", "bearer", "127.0.0.1", "", "raj"),
        ("ann", "bearer", "127.0.0.1", "a", "ann"),
    ]


def test_what_others_say_is_weighed(running) -> None:
    with client(running, "boss") as boss:
        run_id = boss.evaluate_label(["find"], trace_id=trace_id(3)).run_id
        for name in ("one", "two"):
            boss.evaluate_label(["find"], run_id=run_id, store=True, labeller=name)
        alone = boss.evaluate_label(["refund"], run_id=run_id, labeller="three", strange=True)
    assert alone.verdict.layers["selection"].status == "fail"  # by this label
    assert [d.status for d in alone.decisions] == ["pass"]  # by all: two are more than one
