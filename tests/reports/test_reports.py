"""Report writers: the stable JSON form, the text for people, and what must never happen in either."""

from __future__ import annotations

import json
import random
import re

import pytest

from otel_toolselect.model.runs import AssistantText, Run, ToolCall, ToolResult, Unknown
from otel_toolselect.model.verdicts import CallScore, Cell, LayerVerdict, RunVerdict, SuiteVerdicts
from otel_toolselect.reports import (
    event_lines,
    run_lines,
    run_table,
    timelines,
    worst_failures,
    writers,
)
from otel_toolselect.reports._layout import Cell as Text
from otel_toolselect.reports._layout import Column, Grid, Line, clean, paint
from otel_toolselect.stats import report


def verdict(index: int, expected: str, observed: str, **more: object) -> RunVerdict:
    good = expected == observed
    evidence = {"observed": observed, "allowed": [expected], "z": float("nan")}
    layer = LayerVerdict("pass" if good else "fail", f"the first action is {observed}", evidence)
    facts: dict[str, object] = {
        "run_id": f"run-{index:02d}",
        "trace_id": f"{index:032x}",
        "suite": "support",
        "case_id": f"case-{index:02d}",
        "first_action": observed,
        "observed_class": "call",
        "layers": {"selection": layer, "outcome": LayerVerdict("n/a", "no answer is expected")},
        "cells": (Cell(expected, observed),),
    }
    return RunVerdict(**(facts | more))  # type: ignore[arg-type]


def sample() -> list[RunVerdict]:
    runs = [verdict(i, "refund_order", "refund_order") for i in range(3)]
    runs.append(verdict(3, "refund_order", "get_invoice", risk="high", request="\x1b[2Jwhere is\nmy refund?"))
    runs.append(verdict(4, "refund_order", "get_invoice", risk="low"))
    runs.append(verdict(5, "get_invoice", "get_invoice", call_scores=(CallScore(1, "get_invoice", True),)))
    runs.append(verdict(6, "ask_followup", "refund_order", failure="premature_action", owner="safety", risk="low"))
    runs.append(verdict(7, "get_invoice", "none", excluded="infra"))
    return runs


def render(name: str, runs: list[RunVerdict], **more: object) -> str:
    return writers()[name].render(report(SuiteVerdicts("support", tuple(runs))), colour=False, width=100)


def test_formats_are_found_not_listed() -> None:
    assert {"json", "table"} <= set(writers())


@pytest.mark.parametrize("name", sorted(writers()))
def test_every_writer_is_pure_and_ends_its_last_line(name: str) -> None:
    for runs in ([], sample()):
        text = render(name, runs)
        assert text.endswith("\n")
        assert render(name, list(reversed(runs))) == text


def test_json_form() -> None:
    got = json.loads(render("json", sample()), parse_constant=pytest.fail)
    assert list(got)[:5] == ["schema", "suite", "summary", "confusion", "runs"]
    assert got["schema"] == "toolselect.report/1"
    summary = got["summary"]
    assert summary["runs"] == 8
    assert summary["judged"] == 7
    assert summary["excluded"] == {"infra": 1, "catalog_gap": 0, "incomplete": 0}
    assert summary["selection"]["passed"] == 4
    assert summary["selection"]["rate"] == 4 / 7
    assert len(summary["selection"]["ci95"]) == 2
    assert summary["outcome"] == {"passed": 0, "n": 0, "rate": None, "ci95": None}
    assert summary["arguments"]["n"] == 1
    confusion = got["confusion"]
    assert {"expected": "refund_order", "observed": "get_invoice", "n": 2} in confusion["cells"]
    assert confusion["worst_recall"] == {"tool": "refund_order", "recall": 0.6, "support": 5}
    assert set(confusion["tools"]) == {"refund_order", "get_invoice"}
    run = got["runs"][3]
    assert list(run)[:10] == [
        "run_id",
        "parent_run_id",
        "trace_id",
        "case_id",
        "attempt",
        "first_action",
        "observed_class",
        "layers",
        "failure",
        "owner",
    ]
    selection = run["layers"]["selection"]
    assert selection["status"] == "fail"
    assert selection["evidence"] == {"allowed": ["refund_order"], "observed": "get_invoice", "z": "nan"}


def test_json_is_the_same_whatever_the_order() -> None:
    runs = sample()
    first = render("json", runs)
    for seed in range(5):
        random.Random(seed).shuffle(runs)
        assert render("json", runs) == first


def test_table_shows_counts_beside_every_percentage() -> None:
    text = render("table", sample())
    assert "57.1 %  4/7 runs  25.0 to 84.2 %" in text
    assert "n/a (0 runs)" in text
    assert "1/1 call " in text
    assert "2  wanted refund_order  got get_invoice" in text
    assert "worst recall: refund_order 60.0 % (3/5)" in text
    assert "1 infrastructure" in text
    shares = [line for line in text.splitlines() if re.search(r"\d\.\d %", line)]
    assert shares
    assert all(re.search(r"\d+/\d+", line) for line in shares)
    matrix = [line.split() for line in text.splitlines() if line.startswith("  refund_order  ")]
    assert matrix[0] == ["refund_order", "2", "3", ".", "5"]


def test_text_from_a_trace_cannot_steer_the_terminal() -> None:
    for colour in (False, True):
        text = writers()["table"].render(report(SuiteVerdicts("support", tuple(sample()))), colour=colour, width=100)
        assert "\x1b[2J" not in text
        assert "\\x1b[2Jwhere is my refund?" in text


def test_plain_table_has_no_escape_and_no_trailing_space() -> None:
    text = render("table", sample())
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_narrow_terminal_numbers_the_columns() -> None:
    figures = report(SuiteVerdicts("s", tuple(sample())))
    text = writers()["table"].render(figures, colour=False, width=40)
    assert " 2 refund_order" in text


def test_no_runs() -> None:
    text = render("table", [])
    assert text.startswith("support: 0 runs, 0 judged\n")
    assert json.loads(render("json", []))["confusion"]["worst_recall"] is None


def test_worst_first_and_varied() -> None:
    got = worst_failures(report(SuiteVerdicts("s", tuple(sample()))), 3)
    assert [run.case_id for run in got] == ["case-06", "case-03", "case-04"]
    extra = [*sample(), verdict(8, "get_invoice", "none")]
    got = worst_failures(report(SuiteVerdicts("s", tuple(extra))), 3)
    assert [run.case_id for run in got] == ["case-06", "case-03", "case-08"]


def run_of(**more: object) -> Run:
    facts: dict[str, object] = {
        "run_id": "r1",
        "trace_id": "a" * 32,
        "trace_ids": ("a" * 32,),
        "start_ns": 1_700_000_000_123_456_789,
        "agent": "support",
        "events": (
            ToolCall(1, 0, "find", {"n": 1.0, "s": "ü"}, "c1", True, True, "genai"),
            ToolResult(1, 1, 0, "find", "c1", None, None, "genai"),
            ToolCall(1, 2, "odd", Unknown("not JSON"), None, True, False, "genai"),
            ToolResult(1, 3, 2, "odd", None, False, Unknown("not recorded"), "genai", error_type="timeout"),
            AssistantText(2, 4, "done", "genai", agent="sub"),
        ),
    }
    return Run(**(facts | more))  # type: ignore[arg-type]


def test_event_lines() -> None:
    got = [json.loads(line) for line in event_lines([run_of()])]
    head = {"trace_id": "a" * 32, "run_id": "r1", "dialect": "genai"}
    for record in got:
        assert head.items() <= record.items()
    assert got[0] == head | {
        "agent": "support",
        "turn": 1,
        "seq": 0,
        "kind": "tool_call",
        "name": "find",
        "args": {"n": 1.0, "s": "ü"},
        "call_id": "c1",
        "emitted": True,
        "executed": True,
    }
    assert got[1]["value"] is None
    assert "ok" not in got[1]
    assert got[2]["args_error"] == "not JSON"
    assert not {"args", "call_id"} & set(got[2])
    assert got[3]["ok"] is False
    assert got[3]["error_type"] == "timeout"
    assert "value" not in got[3]
    assert (got[4]["kind"], got[4]["text"], got[4]["agent"]) == ("assistant", "done", "sub")


def test_run_lines_have_every_key() -> None:
    (got,) = (json.loads(line) for line in run_lines([run_of()]))
    assert got["start"] == "2023-11-14T22:13:20.123456789Z"
    assert got["first_action"] == "find"
    assert got["tools_offered"] is None
    assert got["complete"] is True
    assert got["duration_s"] is None
    (broken,) = (json.loads(line) for line in run_lines([run_of(incomplete="root missing", start_ns=0)]))
    assert (broken["complete"], broken["incomplete"], broken["start"]) == (False, "root missing", None)


def test_runs_by_start() -> None:
    late, early = run_of(run_id="b", start_ns=2), run_of(run_id="c", start_ns=1)
    assert [json.loads(line)["run_id"] for line in run_lines([late, early])] == ["c", "b"]


@pytest.mark.parametrize("colour", [False, True])
def test_timeline_shows_every_event(colour: bool) -> None:
    text = timelines([run_of(request="where?", final_text="bye")], colour=colour, width=100)
    for part in ("where?", "bye", "find", "not JSON", "timeout", "outcome not recorded", "done"):
        assert part in text
    assert "find" in run_table([run_of()], colour=colour, width=140)
    assert timelines([], colour=colour, width=80) == ""


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("a\tb\nc", "a b c"), ("\x07", "\\x07"), ("\u202eevil", "\\u202eevil"), ("\ud800", "\\ud800"), ("ü", "ü")],
)
def test_clean(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_wide_letters_keep_the_columns() -> None:
    grid = Grid((Column("a"), Column("b")), ((Text("退款"), Text("x")), (Text("abcd"), Text("y"))), indent=0)
    assert paint([grid], colour=False, width=80).splitlines()[1:] == ["退款  x", "abcd  y"]
    assert paint([Line("one two", indent=2)], colour=False, width=5) == "  one two\n"
