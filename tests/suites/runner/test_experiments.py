"""Experiments against a model whose habits are known, so that every figure is known beforehand (R45, R56)."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from otel_toolselect.app.experiment import Asked, Tried, experiment
from otel_toolselect.config import Settings
from otel_toolselect.errors import SuiteError, UsageError
from otel_toolselect.model.experiments import Arm, ArmFigures, Experiment, Move
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.reports import (
    experiment_html,
    experiment_json,
    experiment_markdown,
    experiment_svg,
    experiment_table,
)
from otel_toolselect.rules import load_suite
from otel_toolselect.stats import mcnemar, wilson
from otel_toolselect.stats.displacement import moves
from otel_toolselect.suites.experiments import Setting, VariedCatalog, load_experiment, retrievers
from otel_toolselect.suites.runner import plan
from otel_toolselect.suites.runner.catalogs import Offer
from tests.agents.modelserver import Model, serving

TOOLS = {
    "find_orders": "Find orders of a customer.",
    "refund_order": "Give it back.",
    "get_invoice": "Look up an invoice.",
    "cancel_order": "Cancel an order that was not sent.",
}
WANTED = {"find": "find_orders", "refund": "refund_order", "bill": "get_invoice", "cancel": "cancel_order"}
PER_TOOL = 5
SIGHT = 6


def definition(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": {"type": "object", "properties": {}}}


def decide(body: Mapping[str, Any]) -> dict[str, Any]:
    """Sees the first SIGHT tools only; takes the right one of them, or else the first; the tool for refunds only by a
    description that speaks of money. The model `careless` takes the first always.
    """
    prompt = body["messages"][-1]["content"]
    offered = {tool["function"]["name"]: tool["function"]["description"] for tool in body.get("tools", [])}
    seen = dict(list(offered.items())[:SIGHT])
    right = WANTED[prompt.split()[0]]
    if body["model"] == "careless" or right not in seen or (right == "refund_order" and "money" not in seen[right]):
        return {"call": next(iter(seen))}
    return {"call": right}


class Lab:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        cases = []
        for word, tool in WANTED.items():
            for n in range(PER_TOOL):
                group = ", group: {id: finds, relation: same}" if word == "find" else ""
                if f"{word}-{n}" in ("refund-0", "cancel-0"):
                    group = ", group: {id: pair, relation: different}"
                cases.append(
                    f"  - {{id: {word}-{n}, prompt: {word} order {n} please, expect: {{first: [{tool}]}}{group}}}"
                )
        (folder / "suite.yaml").write_text("suite: lab\ncases:\n" + "\n".join(cases) + "\n", "utf-8")
        self.write("tools.json", {"tools": [definition(*item) for item in TOOLS.items()], "system": "Be brief."})
        self.write("others.json", [definition(f"other_{n}", f"Does the thing number {n}.") for n in range(60)])
        self.said: list[str] = []

    def write(self, name: str, value: Any) -> None:
        (self.folder / name).write_text(json.dumps(value), "utf-8")

    def file(self, vary: str, models: str = "[{name: near, base_url: http://127.0.0.1:9/v1}]", more: str = "") -> str:
        path = self.folder / "experiment.yaml"
        path.write_text(
            f"experiment: lab\nsuite: suite.yaml\ncatalog: tools.json\nmodels: {models}\n{more}\nvary:\n{vary}", "utf-8"
        )
        return str(path)

    def run(self, path: str, **asked: Any) -> tuple[Experiment, Model]:
        with serving(decide) as (url, model):
            tried = self.tried(path, url, **asked)
        assert tried.found is not None
        return tried.found, model

    def tried(self, path: str, url: str, stop: threading.Event | None = None, **asked: Any) -> Tried:
        return experiment(
            Asked(path, self.folder / "runs", url, **asked),
            Settings(),
            stop=stop or threading.Event(),
            tell=self.said.append,
            progress=lambda *_: nullcontext(lambda: None),
        )

    def truth(self, setting: Setting) -> dict[str, bool]:
        """By the model's habits, which cases are right under a setting."""
        base = load_experiment(str(self.folder / "experiment.yaml")).catalog
        catalog = VariedCatalog(base, setting)
        found = {}
        for attempt in plan(load_suite(self.folder / "suite.yaml"), 1):
            tools = [{"function": {"name": t.name, "description": t.description}} for t in catalog.offered(attempt)]
            said = decide({"messages": [{"content": attempt.prompt}], "tools": tools, "model": "near"})
            found[attempt.case.id] = said["call"] == WANTED[attempt.prompt.split()[0]]
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def by_name(found: Experiment) -> dict[str, ArmFigures]:
    return {one.arm.name: one for one in found.arms}


def test_descriptions(lab: Lab) -> None:
    """Only refunds hang on the description: 15 of 20 before, 20 of 20 after, five discordant pairs."""
    found, model = lab.run(lab.file("  - {name: reworded, descriptions: {refund_order: Pays money back.}}\n"))
    base, new = by_name(found)["base"], by_name(found)["reworded"]
    assert (base.majority.passed, base.majority.n) == (15, 20)
    assert base.majority.ci95 == wilson(15, 20)
    assert (new.majority.passed, new.majority.n) == (20, 20)
    assert new.against is not None
    assert new.against.gained == tuple(f"refund-{n}" for n in range(PER_TOOL))
    assert new.against.lost == ()
    assert new.against.p == new.against.p_holm == mcnemar(0, 5)
    assert new.against.moves == (
        Move("fixed", "refund_order", "find_orders", "refund_order", tuple(f"refund-{n}" for n in range(PER_TOOL))),
    )
    assert model.requests[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert base.stable_groups.passed == base.stable_groups.n == 2
    assert [(one.right_pairs.passed, one.right_pairs.n) for one in (base, new)] == [(0, 1), (1, 1)]


def test_size_retrieval_and_order(lab: Lab) -> None:
    """What is right under each size, retrieval and order is worked out from the model's habits, case by case."""
    path = lab.file(
        "  - {name: size, distractors: others.json, size: [4, 8, 32]}\n"
        "  - {name: top, distractors: others.json, size: 32, retrieve: bm25, keep: [1, 6], against: size 32}\n"
        "  - {name: like, distractors: others.json, size: 32, retrieve: rapidfuzz, keep: 6}\n"
        "  - {name: order, order: [1, 2]}\n"
    )
    found, model = lab.run(path)
    wanted = load_experiment(path)
    arms = by_name(found)
    for variation in wanted.variations:
        for value, setting in variation.settings:
            one = arms[variation.name if value is None else f"{variation.name} {value}"]
            truth = lab.truth(setting)
            assert (one.majority.passed, one.majority.n) == (sum(truth.values()), 20), one.arm
            assert one.arm.value == value
    assert arms["size 32"].majority.passed < arms["size 4"].majority.passed  # size costs, with this model
    assert arms["top 6"].majority.passed > arms["size 32"].majority.passed  # and retrieval brings it back
    assert arms["top 6"].against is not None
    assert arms["top 6"].against.base == "size 32"  # retrieval against the same catalog without it
    assert arms["size 32"].tools == (32, 32.0, 32)
    assert arms["top 1"].tools == (1, 1.0, 1)
    assert len(model.requests) == 20 * len(found.arms)


def test_a_tool_that_was_not_retrieved_is_a_wrong_answer(lab: Lab) -> None:
    """In a report such a run leaves the denominator (catalog gap); here retrieval is what is tried."""
    found, _ = lab.run(lab.file("  - {name: top, retrieve: bm25, keep: 1}\n"))
    one = by_name(found)["top"]
    assert one.accuracy.n == 20
    assert 0 < one.offered.passed < one.offered.n == 20
    assert one.when_offered.n == one.offered.passed
    assert one.accuracy.passed == one.when_offered.passed


def test_models_side_by_side(lab: Lab) -> None:
    url = "base_url: 'http://127.0.0.1:9/v1'"
    models = f"[{{name: near, {url}}}, {{name: careless, {url}, key: NO_SUCH}}]"
    found, _ = lab.run(lab.file("  - {name: order, order: 1}\n", models), cases=["find-0", "refund-0", "cancel-1"])
    assert [one.arm.name for one in found.arms] == ["near: base", "near: order", "careless: base", "careless: order"]
    arms = by_name(found)
    assert (arms["near: base"].majority.passed, arms["careless: base"].majority.passed) == (2, 1)
    assert {name: one.against.base for name, one in arms.items() if one.against} == {
        "near: order": "near: base",
        "careless: base": "near: base",
        "careless: order": "careless: base",
    }


def test_it_goes_on_where_it_stopped(lab: Lab) -> None:
    path = lab.file("  - {name: order, order: [1, 2]}\n", more="attempts: 2")
    stop = threading.Event()
    asked = 0

    def until(body: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == 50:  # within the second setting
            stop.set()
        return decide(body)

    with serving(until) as (url, _):
        assert lab.tried(path, url, stop).found is None
        first = len(list((lab.folder / "runs").rglob("traces/*.jsonl")))
        assert first < 120
        again = lab.tried(path, url)
    assert again.found is not None
    assert {one.runs for one in again.found.arms} == {40}
    kept = list((lab.folder / "runs").rglob("traces/*.jsonl"))
    assert len(kept) == 120
    assert asked >= 120


def test_what_cannot_be_offered_is_said_before_anything_is_sent(lab: Lab) -> None:
    path = lab.file("  - {name: size, distractors: others.json, size: [3, 8, 100]}\n")
    with pytest.raises(UsageError) as caught:
        lab.tried(path, "http://127.0.0.1:9/v1")
    assert "size 3: size 3: the case find-0 is offered 4 tools" in str(caught.value)
    assert "size 100: size 100: the case find-0 needs 96 distractors, and there are 60" in str(caught.value)
    assert not (lab.folder / "runs").exists()


BAD = {
    "  - {name: a}\n": "varies nothing",
    "  - {size: 3, distractors: others.json}\n": "no name",
    "  - {name: a, size: 3}\n": "size needs distractors",
    "  - {name: a, order: 1, against: b}\n": "there is none",
    "  - {name: a, order: [1, 2]}\n  - {name: b, order: 3, against: a 3}\n": "did you mean 'a [12]'",
    "  - {name: a, retrieve: bm25}\n": "retrieve needs keep",
    "  - {name: a, retrieve: bm26, keep: 3}\n": "did you mean 'bm25'",
    "  - {name: a, order: [1], keep: [2], retrieve: bm25}\n": "both lists",
    "  - {name: a, descriptions: {refund_ordr: x}}\n": "did you mean 'refund_order'",
    "  - {name: a, catalog: nowhere.json}\n": "nowhere.json",
    "  - {name: a, order: 1}\n  - {name: a, order: 2}\n": "two variations are called",
    "  - {name: a, oder: 1}\n": "did you mean 'order'",
    "  - {name: a, order: one}\n": "must be a number",
}


@pytest.mark.parametrize("vary", BAD)
def test_mistakes_have_their_place(lab: Lab, vary: str) -> None:
    with pytest.raises(SuiteError, match=BAD[vary]) as caught:
        load_experiment(lab.file(vary))
    assert re.match(r".*experiment\.yaml:\d+:\d+: ", str(caught.value))


def test_an_experiment_varies_something(tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    path.write_text("experiment: x\n", "utf-8")
    with pytest.raises(SuiteError) as caught:
        load_experiment(str(path))
    assert [f"has no {key}" in str(caught.value) for key in ("suite", "catalog", "models")] == [True] * 3


def tool(name: str, description: str, **properties: Any) -> ToolDefinition:
    return ToolDefinition(name, description, {"type": "object", "properties": properties})


def test_retrieval() -> None:
    tools = [
        tool("weather", "Tells the weather of a city."),
        tool("refundOrder", "Pays back.", order_id={}),
        tool("search", "Searches the web."),
    ]
    assert set(retrievers()) == {"bm25", "rapidfuzz"}
    for retriever in retrievers().values():
        scores = retriever.scores("please refund my order", tools)
        assert max(scores) == scores[1]
        assert retriever.about
        assert len(retriever.scores("", tools)) == 3
        assert retriever.scores("x", []) == []
    # by hand: one term once in one of three documents of 7, 6 and 4 words
    from math import isclose, log

    expected = log(1 + 2.5 / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 4 / (17 / 3)))
    assert isclose(retrievers()["bm25"].scores("web", tools)[2], expected)


def test_larger_catalogs_hold_the_smaller() -> None:
    base = Offer((tool("a", "A"), tool("b", "B")))
    others = (*(tool(f"o{n}", "O") for n in range(20)), tool("a", "another a"))
    attempt = plan(_suite(), 1)[0]
    found = [VariedCatalog(base, Setting(distractors=others, size=size)).offered(attempt) for size in (4, 8, 22)]
    names = [{t.name for t in tools} for tools in found]
    assert names[0] < names[1] < names[2]
    assert [len(tools) for tools in found] == [4, 8, 22]
    assert base.tools[0] in found[0]
    again = VariedCatalog(base, Setting(distractors=others, size=8)).offered(attempt)
    assert again == found[1]
    assert VariedCatalog(base, Setting(distractors=others, size=8, order=3)).offered(attempt) != found[1]


def _suite() -> Any:
    from otel_toolselect.rules import parse_suite

    return parse_suite("suite: s\ncases: [{id: x, prompt: x, expect: {class: none}}]", path="s.yaml")


def verdict(case: str, expected: str, observed: str, n: int = 1, excluded: Any = None) -> RunVerdict:
    return RunVerdict(
        f"{case}{n}", "t", "s", case, observed, "call", {}, cells=(Cell(expected, observed),), excluded=excluded
    )


def test_moves() -> None:
    before = [
        verdict("fixed", "a", "b"),
        verdict("broken", "a", "a"),
        verdict("displaced", "a", "b"),
        verdict("rerouted", "a", "a"),
        verdict("still", "a", "b"),
        verdict("gone", "a", "b"),
        verdict("lost", "a", "b"),
        *[verdict("often", "a", action, n) for n, action in enumerate("aab")],
    ]
    after = [
        verdict("fixed", "a", "a"),
        verdict("broken", "a", "c"),
        verdict("displaced", "a", "c"),
        verdict("rerouted", "d", "d"),
        verdict("still", "a", "b"),
        verdict("lost", "a", "a", excluded="infra"),
        *[verdict("often", "a", action, n) for n, action in enumerate("abb")],
    ]
    assert moves(before, after) == (
        Move("broken", "a", "a", "b", ("often",)),
        Move("broken", "a", "a", "c", ("broken",)),
        Move("displaced", "a", "b", "c", ("displaced",)),
        Move("fixed", "a", "b", "a", ("fixed",)),
        Move("rerouted", "a", "a", "d", ("rerouted",)),
    )
    assert moves(reversed(before), reversed(after)) == moves(before, after)
    assert moves(before, before) == ()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    lab = Lab(tmp_path_factory.mktemp("lab"))
    url = "base_url: 'http://127.0.0.1:9/v1'"
    models = f"[{{name: near, {url}}}, {{name: careless, label: '<b>x</b>', {url}}}]"
    vary = "  - {name: size, distractors: others.json, size: [4, 8, 40]}\n  - {name: '</svg><i>', order: 1}\n"
    return lab.run(lab.file(vary, models), cases=["find-0", "refund-0", "cancel-1", "bill-2"])[0]


def test_the_chart_is_sound(found: Experiment) -> None:
    svg = experiment_svg(found)
    root = ElementTree.fromstring(svg)
    texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
    assert {"size", "</svg><i>", "4", "8", "40", "base", "near", "<b>x</b>", "100 %"} <= set(texts)
    said = [node.text or "" for node in root.iter() if node.tag.endswith("title")]
    for one in found.arms:
        rate = one.majority
        assert any(f"{one.arm.name}: " in text and f"({rate.passed}/{rate.n}) cases" in text for text in said)
    ticks = {n.text: float(n.attrib["x"]) for n in root.iter() if n.tag.endswith("text") and n.text in ("4", "8", "40")}
    assert ticks["4"] < ticks["8"] < ticks["40"]
    assert (ticks["8"] - ticks["4"]) < (ticks["40"] - ticks["8"])  # by size, not by rank
    assert experiment_svg(found) == svg


def test_every_form(found: Experiment) -> None:
    record = json.loads(experiment_json(found))
    assert record["schema"] == "toolselect.experiment/1"
    assert [arm["arm"]["name"] for arm in record["arms"]] == [one.arm.name for one in found.arms]
    table, markdown, page = experiment_table(found), experiment_markdown(found), experiment_html(found)
    for one in found.arms:
        for text in (table, markdown):
            assert one.arm.name in text
            assert f"({one.majority.passed}/{one.majority.n})" in text
    assert "<b>x</b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;: size 40" in page
    assert "default-src 'none'" in page


def test_an_arm_without_observations_is_a_gap(found: Experiment) -> None:
    from dataclasses import replace

    from otel_toolselect.stats import rate

    empty = replace(found.arms[1], majority=rate(0, 0), accuracy=rate(0, 0), tools=None)
    assert empty.arm == Arm("near: size 4", "size", 4, "near")
    gap = replace(found, arms=(found.arms[0], empty, *found.arms[2:]))
    assert "n/a (0)" in experiment_table(gap)
    ElementTree.fromstring(experiment_svg(gap))
