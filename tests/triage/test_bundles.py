"""Clusters by pair and owner, ranked by risk x frequency; the sample of passes; what a bundle holds (R51)."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from otel_toolselect.model.triage import Triage
from otel_toolselect.model.verdicts import Finding, LayerVerdict, RunVerdict, SuiteVerdicts
from otel_toolselect.reports import triage_json, triage_markdown, triage_table
from otel_toolselect.rules import Policy, Suite, ToolPolicy, parse_suite
from otel_toolselect.stats import report
from otel_toolselect.triage.bundles import triage
from tests.builders import call, run
from tests.reports.samples import HOSTILE, verdict

TOOLS = {"find": ToolPolicy("read"), "refund": ToolPolicy("write", "high"), "wipe": ToolPolicy("write", "critical")}
SUITE = Suite("shop", (), Policy(TOOLS), path="shop.yaml")


def triaged(found: list[RunVerdict], suite: Suite = SUITE, **more: int) -> Triage:
    runs = {v.run_id: run(call(v.first_action, ok=False, error="http_500"), run_id=v.run_id) for v in found}
    return triage(report(SuiteVerdicts("shop", tuple(found))), runs, suite, source=["my traces.jsonl"], **more)


def test_ranked_by_risk_times_frequency() -> None:
    often = [verdict(i, "refund", "find", risk="low") for i in range(5)]
    once = [verdict(10, "find", "wipe", risk="low")]
    two = [verdict(i, "find", "refund") for i in (20, 21)]
    got = [(c.expected, c.observed, c.score, len(c.bundles)) for c in triaged(often + once + two).clusters]
    assert got == [("find", "refund", 8, 2), ("find", "wipe", 8, 1), ("refund", "find", 5, 5)]


def test_owner_and_layer_part_clusters() -> None:
    wrong_args = {"selection": LayerVerdict("pass", ""), "arguments": LayerVerdict("fail", "no id")}
    found = [
        verdict(1, "find", "refund", owner="safety"),
        verdict(2, "find", "refund"),
        verdict(3, "find", "find", layers=wrong_args, owner="agent/schema", failure="invalid_arguments"),
        verdict(4, "find", "find", excluded="infra"),
    ]
    got = triaged(found)
    assert {(c.observed, c.layer, c.owner) for c in got.clusters} == {
        ("refund", "first action", "safety"),
        ("refund", "first action", "agent/prompt"),
        ("find", "arguments", "agent/schema"),
    }
    assert (got.judged, got.failed, got.passed) == (3, 3, 0)


def test_the_same_in_any_order() -> None:
    found = [verdict(i, "find", "refund" if i % 3 else "find") for i in range(40)]
    first = triage_json(triaged(found))
    for seed in range(3):
        random.Random(seed).shuffle(found)
        assert triage_json(triaged(found)) == first


def test_sample_of_passes_visits_every_action_first() -> None:
    found = [verdict(i, "find", "find") for i in range(30)] + [verdict(i, "refund", "refund") for i in (40, 41)]
    got = triaged(found, passes=4)
    assert sorted(b.verdict.first_action for b in got.passes) == ["find", "find", "refund", "refund"]
    assert triaged(found, passes=0).passes == ()
    assert len(triaged(found, passes=99).passes) == 32


def test_bundle() -> None:
    suite = parse_suite(
        "suite: shop\ncases:\n  - id: case-0001\n    prompt: hello\n    expect: {first: [find]}\n", path="a b.yaml"
    )
    broken = Finding("first", "selection", "fail", "wrong")
    kept = verdict(1, "find", "refund", findings=(broken, replace(broken, status="pass", check="other")))
    runs = {
        kept.run_id: run(call("refund", ok=False, error="http_500", infra=True), run_id=kept.run_id, tools=["refund"])
    }
    got = triage(report(SuiteVerdicts("shop", (kept,))), runs, suite, source=["my traces.jsonl"])
    (bundle,) = got.clusters[0].bundles
    assert bundle.place == "a b.yaml:3"
    assert bundle.offered is False
    assert [f.check for f in bundle.broken] == ["first"]
    assert [(e.tool, e.error, e.infra) for e in bundle.errors] == [("refund", "http_500", True)]
    assert bundle.rerun[0] == "toolselect score 'my traces.jsonl' --suite 'a b.yaml'"
    record = json.loads(triage_json(got))["clusters"][0]["bundles"][0]
    assert record["tools_offered"] == ["refund"]
    assert [event["kind"] for event in record["events"]] == ["tool_call", "tool_result"]


def test_review_is_neither_pass_nor_failure() -> None:
    unsure = verdict(1, "find", "find", layers={"selection": LayerVerdict("needs_review", "unclear")})
    got = triaged([unsure])
    assert (len(got.review), got.passed, got.failed, got.clusters) == (1, 0, 0, ())


def test_texts() -> None:
    got = triaged([verdict(1, "find", "refund", request=HOSTILE), verdict(2, "find", "find")])
    table = triage_table(got, per=1, colour=False, width=100)
    assert "wanted find, got refund" in table
    assert "\x1b" not in table
    assert "A SAMPLE OF THE 1 PASSES" in table
    markdown = triage_markdown(got, per=1)
    outside = "".join(part for i, part in enumerate(markdown.split("`")) if i % 2 == 0)
    assert "<img" not in outside
    assert triage_table(triaged([]), per=1, colour=False, width=80).startswith("shop: 0 of 0 judged runs failed")
