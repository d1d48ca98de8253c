"""`toolselect label` on a real store: every command as it is typed, in one process."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from otel_toolselect import app
from otel_toolselect.app.labels import Desk
from otel_toolselect.app.live import judge_on, panel_files
from otel_toolselect.cli import main
from otel_toolselect.config import load
from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.decisions import LABELS
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import decode_json
from otel_toolselect.rules.rulefiles import load_rules
from otel_toolselect.store import open_store
from tests.cli._spans import agent_trace, sample, suite
from tests.llm.endpoint import endpoint, says

DAY = "2025-10-09"
Typed = Callable[..., "tuple[int, str, str]"]

RULES = """
rules: guard
cases:
  - {id: no-refund, expect: {never: [refund]}}
"""


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """A command line in an empty folder with a store of its own: exit code, stdout, stderr."""
    for name in list(os.environ):
        if name.startswith("TOOLSELECT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLSELECT_STORE", f"chdb://{tmp_path}/store")
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def runs(typed: Typed, tmp_path: Path) -> dict[str, Run]:
    """Judged under a rule, by request."""
    lines = sample(tmp_path).read_text("utf-8")
    lines += agent_trace(4, "find B-2", "Here.", ("find", {"q": "B-2"}, []), toolselect_expected="find") + "\n"
    (tmp_path / "traces.jsonl").write_text(lines, "utf-8")
    (tmp_path / "guard.yaml").write_text(RULES, "utf-8")
    assert typed("replay", "traces.jsonl")[0] == 0
    store = open_store(f"chdb://{tmp_path}/store")
    judged = Panel((), (load_rules("guard.yaml"),)).judge(app.runs_from_store(store))
    store.write_runs(judged.runs)
    store.add_judged(judged.verdicts, judged.decisions)
    store.close()
    return {run.request or "": run for run in judged.runs}


def queued(typed: Typed, *more: str) -> list[tuple[str, str]]:
    code, out, _ = typed("label", "queue", "--day", DAY, "--format", "json", *more)
    assert code == 0
    return [(one["run_id"], one["why"]) for one in json.loads(out)["runs"]]


def test_from_the_queue_to_the_figures(typed: Typed, runs: dict[str, Run], tmp_path: Path) -> None:
    paid, order, asked, marked = (runs[r].run_id for r in ("refund A-1", "where is my order?", "refund it", "find B-2"))
    first = queued(typed)
    assert first[0] == (paid, "failure")
    assert {run_id for run_id, _ in first} == {paid, order, asked, marked}
    assert first == queued(typed), "the same day and seed draw the same"

    assert typed("label", paid, "--expected", "refund", "--by", "ann")[1] == f"{paid}: find is wrong\n"
    assert typed("label", "set", paid, "--expected", "refund", "--by", "ann")[1].endswith("(as before)\n")
    assert typed("label", order[:8], "--expected", "find", "--by", "ann")[1] == f"{order}: find is right\n"
    assert typed("label", asked, "--no-call", "none", "--by", "ann", "--note", "it knew")[0] == 0
    assert typed("label", f"{4:032x}", "--wrong", "--by", "ann")[1] == f"{marked}: find is wrong\n"
    assert typed("label", paid, "--expected", "find", "--by", "raj")[0] == 0

    assert queued(typed) == [(paid, "failure"), (marked, "disputed")], "all are labelled, two are disputed"
    assert queued(typed, "--by", "ann") == []
    assert queued(typed, "--by", "raj")[0][0] == marked

    code, out, _ = typed("label", "figures", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert {name: (r["passed"], r["n"]) for name, r in found["sources"].items()} == {
        "person": (2, 4),
        "attribute": (1, 1),
    }
    assert (found["counted"]["passed"], found["counted"]["n"]) == (2, 4)
    assert (found["sample"]["n"], found["sample"]["stands_for"], found["sample"]["population"]) == (4, 4, 4)
    assert found["sample"]["rate"] == 0.5

    code, out, _ = typed("label", "agreement", "--format", "json")
    found = json.loads(out)
    pairs = {tuple(p["sources"]): (p["about"], p["n"], p["same"]) for p in found["pairs"]}
    assert pairs == {("ann", "raj"): ("expected", 1, 0), ("ann", "attribute"): ("expected", 1, 0)}
    against = {d["source"]: d for d in found["against_people"]}
    rule = against["rule guard/no-refund"]  # raj, who spoke last, finds the run right that the rule flags
    assert (rule["precision"]["passed"], rule["precision"]["n"], rule["recall"]["n"]) == (0, 1, 2)
    assert {d["run_id"] for d in found["disputes"]} == {paid, marked}

    code, out, _ = typed("label", "show", paid)
    assert code == 0
    assert re.search(r"ann +person +refund", out)
    assert re.search(r"person +pass +counts +find x find", out)


def test_a_changed_label_keeps_its_history_and_a_withdrawn_one_counts_no_more(
    typed: Typed, runs: dict[str, Run], tmp_path: Path
) -> None:
    paid = runs["refund A-1"].run_id
    typed("label", paid, "--expected", "refund", "--by", "ann")
    typed("label", paid, "--expected", "find", "--by", "ann", "--note", "looked again")
    lines = [json.loads(line) for line in typed("label", "show", paid, "--format", "json")[1].splitlines()]
    assert [(x["by"], x["expected"], x.get("note")) for x in lines] == [
        ("ann", ["refund"], None), ("ann", ["find"], "looked again"),
    ]  # fmt: skip
    assert lines[0]["at"] < lines[1]["at"]
    assert decisions(tmp_path) == {(paid, "person", "pass", True), marked_by_trace(runs)}
    assert typed("label", paid, "--withdraw", "--by", "ann")[0] == 0
    assert decisions(tmp_path) == {marked_by_trace(runs)}
    code, _, err = typed("label", paid, "--withdraw", "--by", "ann")
    assert (code, "no label" in err) == (2, True)


def marked_by_trace(runs: dict[str, Run]) -> tuple[str, str, str, bool]:
    return runs["find B-2"].run_id, "attribute", "pass", True


def decisions(folder: Path) -> set[tuple[str, str, str, bool]]:
    store = open_store(f"chdb://{folder}/store")
    try:
        return {(d.run_id, d.origin, d.layers["selection"], d.counts) for d in store.decisions(LABELS)}
    finally:
        store.close()


def test_judging_again_keeps_labels_and_refresh_restores_them(
    typed: Typed, runs: dict[str, Run], tmp_path: Path
) -> None:
    paid = runs["refund A-1"].run_id
    typed("label", paid, "--expected", "refund", "--by", "ann")
    before = decisions(tmp_path)
    assert len(before) == 2
    suite(tmp_path)
    assert typed("eval", "--suite", "shop.jsonl")[0] == 1
    assert decisions(tmp_path) == before
    store = open_store(f"chdb://{tmp_path}/store")
    store.replace_judged([LABELS], [runs["refund A-1"]], [], [])  # as if the command had been cut off
    store.close()
    assert decisions(tmp_path) == {marked_by_trace(runs)}
    assert typed("label", "refresh")[1] == "1 decisions on 1 labelled runs\n"
    assert decisions(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "says_"),
    [
        (("--by", "ann"), "say one of"),
        (("--expected", "find", "--wrong", "--by", "ann"), "say one of"),
        (("--expected", "fnd", "--by", "ann"), "did you mean 'find'?"),
        (("--no-call", "nothing", "--by", "ann"), "ask_followup"),
        (("--expected", "find", "--by", " "), "names nobody"),
        (("--expected", "find"), "--by"),
    ],
)
def test_bad_labels_are_named(typed: Typed, runs: dict[str, Run], words: tuple[str, ...], says_: str) -> None:
    code, out, err = typed("label", runs["refund A-1"].run_id, *words)
    assert (code, out) == (2, "")
    assert says_ in err


def test_runs_that_are_not_there(typed: Typed, runs: dict[str, Run]) -> None:
    code, _, err = typed("label", "zzz", "--expected", "find", "--by", "ann")
    assert (code, "once they are judged" in err) == (2, True)
    assert typed("label", "queue", "--day", "1999-01-01")[2].startswith("toolselect: no run started on 1999-01-01")
    assert typed("label", "queue", "--day", "noday")[0] == 2
    code, out, _ = typed("label", runs["find B-2"].run_id, "--expected", "cancel", "--by", "ann", "--not-offered")
    assert (code, out.endswith("find is wrong\n")) == (0, True)


def test_files_round_trip_and_mistakes_import_nothing(typed: Typed, runs: dict[str, Run], tmp_path: Path) -> None:
    paid, order = runs["refund A-1"].run_id, runs["where is my order?"].run_id
    (tmp_path / "in.csv").write_text(
        f'run_id,by,expected,wrong,note\n{paid[:9]},ann,"refund,find",,=1+1\n{order},raj,,true,"grüße, ""x"""\n'
    )
    assert typed("label", "import", "in.csv")[1] == "2 labels read, 2 of them new or changed\n"
    for name in ("out.csv", "out.jsonl"):
        assert typed("label", "export", "-o", name)[0] == 0
        assert typed("label", "import", name)[1] == "2 labels read, 0 of them new or changed\n"
    rows = {row["run_id"]: row for row in csv.DictReader((tmp_path / "out.csv").read_text("utf-8").splitlines())}
    assert (rows[paid]["expected"], rows[paid]["wrong"], rows[order]["wrong"]) == ("refund,find", "", "true")
    assert rows[order]["note"] == 'grüße, "x"'
    assert typed("label", "export", "--by", "raj")[1].count("\n") == 1
    bad = [
        {"run_id": "zzz", "by": "ann", "expected": ["find"]},
        {"run_id": paid, "by": "eva"},
        {"run_id": paid, "expected": "find"},
        {"run_id": paid, "by": "eva", "expected": [3]},
        {"run_id": paid, "by": "eva", "expected": "find", "at": "soon"},
        {"run_id": paid, "by": "eva", "expected": "find", "source": "judge"},
        {"run_id": paid, "by": "eva", "expected": "find"},
    ]
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, bad)))
    code, _, err = typed("label", "import", "bad.jsonl")
    assert code == 2
    assert [f"bad.jsonl:{n}:1:" in err for n in range(1, 8)] == [True] * 6 + [False]
    assert "eva" not in typed("label", "export")[1]


def test_the_judge_labels_the_sample_once(
    typed: Typed, runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = typed("label", "judge", "--day", DAY)
    assert (code, "judge.url" in err) == (4, True)
    with endpoint(lambda n, body: says("no" if "calling the tool find" in str(body) else "yes")) as told:
        settings = {"URL": told.url, "MODEL": "m-1", "KEY": "s3cret", "CACHE": str(tmp_path / "kept")}
        for name, value in settings.items():
            monkeypatch.setenv(f"TOOLSELECT_JUDGE_{name}", value)
        assert typed("label", "judge", "--day", DAY, "--limit", "2")[1] == "2 of 2 runs have an answer\n"
        assert typed("label", "judge", "--day", DAY)[1] == "2 of 2 runs have an answer\n"
        asked = len(told.seen)
        assert typed("label", "judge", "--day", DAY)[1] == "0 of 0 runs have an answer\n"
        assert len(told.seen) == asked
    judged = {(run_id, status) for run_id, origin, status, _ in decisions(tmp_path) if origin == "judge"}
    rejected = {runs[r].run_id for r in ("refund A-1", "where is my order?", "find B-2")}
    assert judged == {(runs["refund it"].run_id, "pass")} | {(run_id, "fail") for run_id in rejected}
    assert (runs["find B-2"].run_id, "judge", "fail", False) in decisions(tmp_path), "the trace goes before the judge"
    (line, *_) = typed("label", "show", runs["find B-2"].run_id, "--format", "json")[1].splitlines()
    asked_of = json.loads(line)["record"]["asked"]
    assert [(a["action"], a["answer"]) for a in asked_of] == [("find", "no"), ("ask_followup", "yes")]
    assert "s3cret" not in line
    typed("label", runs["find B-2"].run_id, "--expected", "find", "--by", "ann")
    found = json.loads(typed("label", "agreement", "--format", "json")[1])
    judge = next(d for d in found["against_people"] if d["source"] == "judge m-1")
    assert (judge["n"], judge["precision"]["passed"], judge["precision"]["n"]) == (1, 0, 1)


def test_next_in_a_pipe_shows_a_run_and_asks_nothing(typed: Typed, runs: dict[str, Run]) -> None:
    code, out, _ = typed("label", "next", "--by", "ann", "--day", DAY)
    assert code == 0
    assert "request: refund A-1" in out
    assert 'refund {"id": "A-1"}' in out
    assert "guard" not in out, "a labeller is not told what a rule says"


def test_next_in_a_terminal_never_shows_another_answer_first(
    typed: Typed, runs: dict[str, Run], tmp_path: Path
) -> None:
    paid = runs["refund A-1"].run_id
    typed("label", paid, "--expected", "refund", "--by", "ann-the-first")
    primary, secondary = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "otel_toolselect.cli", "label", "next", "--by", "raj", "--day", DAY],
        stdin=secondary, stdout=secondary, stderr=secondary, cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"}, close_fds=True,
    )  # fmt: skip
    os.close(secondary)
    try:
        seen = _until(primary, "expected> ")
        assert "request: refund A-1" in seen
        assert "ann-the-first" not in seen
        os.write(primary, b"7\n")
        assert "'7' is no choice" in _until(primary, "expected> ")
        os.write(primary, b"1, 2 # both would do\n")
        assert re.search(r"kept: find, refund\s+ann-the-first said: refund", _until(primary, "expected> "))
        os.write(primary, b"q\n")
        assert "1 labelled by raj" in _until(primary, "by raj")
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.wait()
        os.close(primary)
    (_, line) = typed("label", "show", paid, "--format", "json")[1].splitlines()
    assert (json.loads(line)["expected"], json.loads(line)["note"]) == (["find", "refund"], "both would do")


def _until(terminal: int, wanted: str) -> str:
    seen = ""
    while wanted not in seen:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            data = b""
        assert data, seen
        seen += data.decode()
    return seen


# docs/labels.md


def test_late_spans_judge_a_run_again_under_its_labels(typed: Typed, tmp_path: Path) -> None:
    first, *rest = json.loads(agent_trace(7, "refund C-3", "Done.", ("refund", {"id": "C-3"}, "ok")))["resourceSpans"][
        0
    ]["scopeSpans"][0]["spans"]
    (tmp_path / "guard.yaml").write_text(RULES, "utf-8")
    settings = load({"live_rules": str(tmp_path / "guard.yaml")})
    store = open_store(f"chdb://{tmp_path}/store")
    try:
        judge = judge_on(store, panel_files(store, settings), settings, sole_writer=True)
        early, late = _batch([first, *rest[:-1]]), _batch(rest[-1:])
        store.insert(early.spans, early.logs)
        judge.offer(early.spans, early.logs)
        judge.settle()
        (run,) = store.runs()
        desk = Desk(store, settings)
        desk.keep([desk.label(run, "ann", ("find",))])
        before = [(d.first_action, d.status) for d in store.decisions(LABELS)]
        store.insert(late.spans, late.logs)
        judge.offer(late.spans, late.logs)
        judge.settle()
        assert [(d.first_action, d.status) for d in store.decisions(LABELS)] == before == [("refund", "fail")]
        assert next(iter(store.runs())).final_text == "Done."
    finally:
        store.close()


def _batch(spans: list[object]) -> Batch:
    return decode_json(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode())


def test_a_suite_cannot_take_the_name_of_labelled_traffic(typed: Typed, runs: dict[str, Run], tmp_path: Path) -> None:
    suite(tmp_path).rename(tmp_path / "labels.jsonl")
    code, _, err = typed("eval", "--suite", "labels.jsonl")
    assert (code, "choose another" in err) == (2, True)
    assert typed("score", "traces.jsonl", "--suite", "labels.jsonl")[0] == 1
