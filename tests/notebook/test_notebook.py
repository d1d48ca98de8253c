"""The Python API against the command line: the same files, the same figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from otel_toolselect import notebook as ts
from otel_toolselect.cli import main
from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.reports import writers
from tests.cli import _spans
from tests.verdicts import repeated, report_of, verdict

SUITE = """
suite: shop
version: 1
cases:
  - {id: a, prompt: find it, expect: {first: [find]}}
  - {id: b, prompt: refund it, expect: {first: [refund]}}
  - {id: c, prompt: "<script>alert(1)</script>", expect: {first: [find]}}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("TOOLSELECT_STORE", f"chdb://{tmp_path}/store")
    suite, traces = tmp_path / "suite.yaml", tmp_path / "traces.jsonl"
    suite.write_text(SUITE, "utf-8")
    lines = [
        _spans.agent_trace(1, "find it", "done", ("find", {"q": 1}, "x")),
        _spans.agent_trace(2, "refund it", "done", ("find", {"q": 2}, "x")),
        _spans.agent_trace(3, "<script>alert(1)</script>", "done", ("<b>refund</b>", {}, "x")),
    ]
    traces.write_text("\n".join(lines), "utf-8")
    return traces, suite


def command(*words: object) -> None:
    with pytest.raises(SystemExit):
        main([str(word) for word in words])


def test_a_scorecard_says_what_the_command_says(files: tuple[Path, Path], tmp_path: Path) -> None:
    traces, suite = files
    card = ts.score(traces, suite)
    card.save(tmp_path / "ours.json")
    command("score", traces, "--suite", suite, "--format", "json", "-o", tmp_path / "theirs.json")
    assert (tmp_path / "ours.json").read_text() == (tmp_path / "theirs.json").read_text()
    said = json.loads((tmp_path / "theirs.json").read_text())
    selection = said["summary"]["selection"]
    row = card.summary.loc["selection"]
    assert (row["passed"], row["n"]) == (selection["passed"], selection["n"]) == (1, 3)
    assert [row["low"], row["high"]] == selection["ci95"]
    assert card.confusion.to_dict("index") == {
        "find": {"find": 1, "<b>refund</b>": 1},
        "refund": {"find": 1, "<b>refund</b>": 0},
    }
    assert card.tools.loc["find", "recall"] == said["confusion"]["tools"]["find"]["recall"] == 0.5
    assert not card.passed
    assert list(card.failures["case_id"]) == ["b", "c"]
    assert set(ts.read_report(tmp_path / "ours.json").verdicts["first_action"]) == {"find", "<b>refund</b>"}


def test_what_came_from_a_trace_is_escaped(files: tuple[Path, Path]) -> None:
    card = ts.score(*files)
    for html in (card._repr_html_(), ts.runs(files[0])._repr_html_()):
        assert "<script" not in html
        assert "<b>" not in html
        assert "&lt;b&gt;refund" in html
    assert "alert" not in repr(card)


def test_runs_and_events_as_frames(files: tuple[Path, Path]) -> None:
    found = ts.runs([files[0]])
    assert len(found) == 3
    assert found[0].first_action == "find"
    assert list(found.frame["first_action"]) == ["find", "find", "<b>refund</b>"]
    assert str(found.frame["start"].dtype).startswith("datetime64[ns, UTC")
    calls = found.events[found.events["kind"] == "tool_call"]
    assert list(calls["args"]) == [{"q": 1}, {"q": 2}, {}]
    row = ts.doctor(files[0]).iloc[0]
    assert (row["runs"], row["calls"], row["arguments"]) == (3, 3, 1.0)
    empty = ts.runs([])
    assert (len(empty.frame), "0 runs" in empty._repr_html_(), repr(empty)) == (0, True, "<Runs: 0 runs>")


def test_the_store_and_its_windows(files: tuple[Path, Path]) -> None:
    traces, suite = files
    command("replay", traces)
    assert len(ts.stored_runs()) == 3
    card = ts.evaluate(suite)
    assert card.summary.loc["selection", "passed"] == 1
    start = _spans.START // 10**9
    found = ts.confusion(
        window="1h", since="2025-10-09T08:00", until="2025-10-09T10:00", suite="shop", by="agent", zone="Europe/Berlin"
    )
    assert list(found.frame["n"]) == [3, 0]
    assert found.frame["rate"].isna().tolist() == [False, True]
    first = found.frame.iloc[0]
    assert first["start"].timestamp() <= start < first["end"].timestamp()
    assert (first["agent"], str(first["start"].tz)) == ("shop", "Europe/Berlin")
    assert found.tools.set_index("tool").loc["find", "support"] == 2
    assert found.chart().to_dict()["layer"]
    assert "33.3%" in found._repr_html_()
    with pytest.raises(UsageError, match="is no length"):
        ts.confusion(window="soon")


def test_charts_carry_counts_and_intervals() -> None:
    card = ts.Scorecard(report_of(*[verdict("a", "find")] * 3, verdict("b", "find", "refund")), {})
    drawn = card.chart().to_dict()
    (rows,) = drawn["datasets"].values()
    assert [(r["expected"], r["observed"], r["n"], r["share"], r["right"]) for r in rows] == [
        ("find", "find", 3, 0.75, True),
        ("find", "refund", 1, 0.25, False),
    ]
    (rows,) = card.chart_summary().to_dict()["datasets"].values()
    assert {r["layer"]: (r["n"], round(r["low"], 3)) for r in rows} == {"selection": (4, 0.301)}
    nothing = ts.Scorecard(report_of(), {})
    assert nothing.chart().to_dict()["layer"]
    assert nothing.confusion.empty
    assert not nothing.passed


def test_sides_against_each_other(tmp_path: Path) -> None:
    before = report_of(*repeated("a", "find", "refund", "PPP"), *repeated("b", "find", "refund", "PPP"))
    after = report_of(*repeated("a", "find", "refund", "PPP"), *repeated("b", "find", "refund", "FFP"))
    for name, one in (("before", before), ("after", after)):
        (tmp_path / f"{name}.json").write_text(writers()["json"].render(one, colour=False, width=0), "utf-8")
    found = ts.compare(tmp_path / "before.json", tmp_path / "after.json")
    assert list(found.sides.index) == ["before", "after"]
    assert list(found.sides["passed"]) == [6, 4]
    assert found.flipped[["change", "case_id", "before", "after"]].values.tolist() == [["lost", "b", "3/3", "1/3"]]
    assert found.moved[["expected", "observed", "kind", "after"]].values.tolist() == [["find", "refund", "new", 2]]
    assert "2 cases on all sides" in found._repr_html_()
    assert found.chart().to_dict()["layer"]
    flips = ts.read_report(tmp_path / "after.json").flips
    assert flips["flips"].to_dict() == {"a": False, "b": True}
    command(
        "baseline", "accept", tmp_path / "before.json", "-o", tmp_path / "base.yaml", "--by", "ann", "--reviewer", "raj"
    )
    gated = ts.gate(tmp_path / "after.json", tmp_path / "base.yaml")
    assert gated.outcome in ("fail", "inconclusive")
    assert gated.conditions["outcome"].isin(["fail", "inconclusive", "pass", "n/a"]).all()
    assert f"s: {gated.outcome}" in gated._repr_html_()


def test_mistakes_say_what_to_do(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    card = ts.score(*files)
    with pytest.raises(UsageError, match="no form of report is known"):
        card.save(tmp_path / "report.pdf")
    with pytest.raises(UsageError, match="splits one scorecard"):
        ts.compare(card, card, by="model")
    with pytest.raises(UsageError, match="none of label"):
        ts.compare(card, by="mood")
    with pytest.raises(InputError, match="nowhere"):
        ts.score(tmp_path / "nowhere.jsonl", files[1])
    for name, use in (("pandas", lambda: card.tools), ("altair", card.chart)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UsageError, match="notebook"):
            use()
