"""Gate, baseline, compare, flips and confusion from outside: exit codes, files, messages (issue D, 1 to 4)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.reports import writers
from otel_toolselect.store import open_store
from tests.cli.conftest import Cli
from tests.verdicts import bug_33, report_of, verdict


def many(right: int, wrong: int, got: str = "none", **fields: str) -> list[RunVerdict]:
    return [verdict(f"c{i:02d}", "find", "find" if i < right else got, **fields) for i in range(right + wrong)]


def save(path: Path, report: Report) -> Path:
    path.write_text(writers()["json"].render(report, colour=False, width=0), "utf-8")
    return path


def accepted(cli: Cli, folder: Path, *runs: RunVerdict) -> Path:
    report = save(folder / "accepted.json", report_of(*runs))
    done = cli(
        "baseline", "accept", report, "-o", "baseline.yaml", "--by", "ann", "--reviewer", "raj", "--at", "2026-11-30"
    )
    assert (done.returncode, done.stdout) == (0, "no baseline before: everything is new\n")
    assert "accepted by ann, reviewed by raj" in done.stderr
    return folder / "baseline.yaml"


def test_exit_codes_of_the_gate(cli: Cli, tmp_path: Path) -> None:
    base = accepted(cli, tmp_path, *many(30, 10))
    good = save(tmp_path / "good.json", report_of(*many(31, 9)))
    bad = save(tmp_path / "bad.json", report_of(*many(29, 11)))
    few = save(tmp_path / "few.json", report_of(*many(3, 0)))
    assert cli("gate", good, "--baseline", base).returncode == 0
    assert cli("gate", bad, "-b", base).returncode == 1
    done = cli("gate", few, "-b", base)
    assert done.returncode == 3
    assert "inconclusive: accuracy" in done.stderr
    assert cli("gate", good).returncode == 2
    assert cli("gate", "-b", base).returncode == 2
    assert cli("gate", "absent.json", "-b", base).returncode == 2
    assert cli("gate", good, "-b", "absent.yaml").returncode == 2
    assert cli("gate", good, "-b", base, "--since", "1d").returncode == 2
    assert cli("gate", "-b", base, "--suite", "absent.yaml").returncode == 4  # no store either


def test_gate_policy_and_forms(cli: Cli, tmp_path: Path) -> None:
    base = accepted(cli, tmp_path, *many(30, 10))
    bad = save(tmp_path / "bad.json", report_of(*many(29, 11)))
    policy = tmp_path / "gate.yaml"
    policy.write_text("conditions: {accuracy: {tolerance: 0.025}, worst_recall: off}\n")
    assert cli("gate", bad, "-b", base, "-p", policy).returncode == 0
    found = json.loads(cli("gate", bad, "-b", base, "--format", "json").stdout)
    assert (found["schema"], found["outcome"], found["cases"]) == ("toolselect.gate/1", "fail", 40)
    accuracy = next(c for c in found["conditions"] if c["condition"] == "accuracy")
    assert (accuracy["outcome"], accuracy["n"], accuracy["limit"]) == ("fail", 40, ">= 75.0 %")
    assert len(accuracy["ci95"]) == 2
    text = cli("gate", bad, "-b", base, "--format", "markdown", "-o", "gate.md")
    assert (text.returncode, text.stdout) == (1, "")
    assert "| accuracy | **fail** |" in (tmp_path / "gate.md").read_text()
    policy.write_text("conditions: {acuracy: true}\n")
    wrong = cli("gate", bad, "-b", base, "-p", policy)
    assert wrong.returncode == 2
    assert "gate.yaml:1:14: unknown key 'acuracy' in conditions (did you mean 'accuracy'?)" in wrong.stderr
    listed = cli("gate", "--conditions").stdout
    assert "new_cells (on by default): fails when a confusion occurred" in listed
    assert "tool_recall (off by default)" in listed


def test_bug_33_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    report = save(tmp_path / "r.json", report_of(*bug_33()))
    base = tmp_path / "b.yaml"
    base.write_text(
        "schema: toolselect.baseline/1\nsuite: s\naccepted: {by: ann, reviewer: raj, at: x}\n"
        "figures: {accuracy: 0.70}\ncells: [[search, ask_followup]]\n"
    )
    done = cli("gate", report, "-b", base)
    assert done.returncode == 1
    assert "new: search -> refund (3), none -> search (1)" in done.stdout
    assert "one flip moves case accuracy by 16.7 points" in done.stdout
    flips = cli("flips", report)
    assert flips.returncode == 0
    for text in ("33.3 % (2/6)", "67.9 % (19/28)", "70.0 % (6 cases)", "66.7 % (4/6)", "one flip moves", "c3", "c6"):
        assert text in flips.stdout
    assert "c2" not in flips.stdout
    found = json.loads(cli("flips", report, "--format", "json").stdout)
    assert found["observation_level"]["n"] == 28
    assert found["case_level"]["mean"] == 0.7
    assert found["cases"][4] == {
        "case_id": "c5", "passed": 3, "n": 3, "repeated": True, "flips": False, "majority": True,
        "actions": {"search": 3},
    }  # fmt: skip


def test_nothing_repeated_is_too_few(cli: Cli, tmp_path: Path) -> None:
    done = cli("flips", save(tmp_path / "r.json", report_of(*many(3, 1))))
    assert done.returncode == 3
    assert "no case was repeated" in done.stdout


@pytest.mark.parametrize("people", [(), ("--by", "ann"), ("--by", "ann", "--reviewer", "Ann")])
def test_a_baseline_needs_two_people(cli: Cli, tmp_path: Path, people: tuple[str, ...]) -> None:
    report = save(tmp_path / "r.json", report_of(*many(3, 1)))
    assert cli("baseline", "accept", report, "-o", "b.yaml", *people).returncode == 2
    assert not (tmp_path / "b.yaml").exists()


def test_accepting_again_shows_the_difference(cli: Cli, tmp_path: Path) -> None:
    base = accepted(cli, tmp_path, *many(30, 10))
    before = base.read_bytes()
    new = save(tmp_path / "new.json", report_of(*many(29, 11, "refund")))
    shown = cli("baseline", "diff", base, new).stdout
    assert "accuracy: 30/40 runs -> 29/40 runs (laxer)" in shown
    assert "new cell find -> refund: 0 -> 11 (laxer)" in shown
    assert base.read_bytes() == before
    done = cli("baseline", "accept", new, "-o", base, "--by", "raj", "--reviewer", "ann")
    assert shown == done.stdout
    assert base.read_bytes() != before
    assert "known cell find -> refund: 11" in cli("baseline", "show", base).stdout
    other = save(tmp_path / "other.json", report_of(verdict("a", "find", "refund")))
    assert cli("baseline", "diff", base, base).stdout == "no difference\n"
    text = other.read_text().replace('"suite": "s"', '"suite": "t"')
    other.write_text(text)
    refused = cli("baseline", "accept", other, "-o", base, "--by", "raj", "--reviewer", "ann")
    assert refused.returncode == 2
    assert "is the baseline of 's'" in refused.stderr


def test_order_of_runs_changes_no_byte(cli: Cli, tmp_path: Path) -> None:
    base = accepted(cli, tmp_path, *bug_33())
    report = report_of(*bug_33())
    one = save(tmp_path / "a.json", report)
    document = json.loads(one.read_text())
    random.Random(3).shuffle(document["runs"])
    (tmp_path / "other").mkdir()
    two = tmp_path / "other" / "a.json"
    two.write_text(json.dumps(document))
    for form in ("table", "json", "markdown"):
        assert (
            cli("gate", one, "-b", base, "--format", form).stdout
            == cli("gate", two, "-b", base, "--format", form).stdout
        )
        compared = [cli("compare", one, path, "--format", form).stdout for path in (one, two)]
        assert compared[0] == compared[1] != ""


def test_compare(cli: Cli, tmp_path: Path) -> None:
    before = many(30, 10, label="old")
    after = many(28, 12, "refund", label="new", model="m-2")
    facts = {run.run_id: RunFacts(duration_ns=10**9, input_tokens=5, cost_usd=0.5) for run in after}
    a, b = save(tmp_path / "old.json", report_of(*before)), save(tmp_path / "new.json", report_of(*after, facts=facts))
    shown = cli("compare", a, b).stdout
    for text in (
        "moved: model",
        "model moved: m-1 -> m-2",
        "2 lost, 0 gained; exact paired test p = 0.5000",
        "lost c28: 1/1 (find) -> 0/1 (refund)",
        "rerouted c30: 0/1 (none) -> 0/1 (refund)",
        "new cell: wanted find, got refund: 0/40 -> 12/40",
        "gone cell: wanted find, got none: 10/40 -> 0/40",
        "0.50000 USD (n 40)",
        "not recorded",
    ):
        assert text in shown
    same = cli("compare", a, a, "--format", "json")
    found = json.loads(same.stdout)
    assert [side["name"] for side in found["sides"]] == ["old", "old (2)"]
    assert found["against"][0]["p"] == 1.0
    assert {i["movement"] for i in found["against"][0]["differences"]["identities"]} == {"same"}
    both = save(tmp_path / "both.json", report_of(*before, *after))
    split = json.loads(cli("compare", both, "--by", "label", "--format", "json").stdout)
    assert [side["name"] for side in split["sides"]] == ["new", "old"]
    assert "moved: model" in cli("compare", a, b, "--format", "markdown").stdout


def test_compare_needs_two_sides_and_common_cases(cli: Cli, tmp_path: Path) -> None:
    a = save(tmp_path / "a.json", report_of(*many(3, 0)))
    b = save(tmp_path / "b.json", report_of(verdict("other", "find")))
    assert cli("compare", a).returncode == 2
    assert cli("compare").returncode == 2
    assert cli("compare", a, "--by", "colour").returncode == 2
    assert "every run has the label (none)" in cli("compare", a, "--by", "label").stderr
    assert cli("compare", a, b).returncode == 3


def test_accuracy_against_catalog_size(cli: Cli, tmp_path: Path) -> None:
    runs = [*many(9, 1, catalog_id="small"), *many(6, 4, catalog_id="large")]
    offered = {"small": ("find",), "large": tuple(f"t{i}" for i in range(20))}
    facts = {run.run_id: RunFacts(tools_offered=offered[str(run.catalog_id)]) for run in runs}
    report = save(tmp_path / "r.json", report_of(*runs, facts=facts))
    found = json.loads(cli("compare", report, "--by", "catalog", "--format", "json").stdout)
    points = [(p["catalog"], p["tools"], p["accuracy"]["passed"], p["accuracy"]["n"]) for p in found["catalogs"]]
    assert points == [("large", 20, 6, 10), ("small", 1, 9, 10)]
    assert "90.0 % (9/10)" in cli("compare", report, "--by", "catalog").stdout


def test_confusion_of_a_report(cli: Cli, tmp_path: Path) -> None:
    runs = [*many(18, 2, "refund", label="old", risk="high"), *many(20, 0, label="new")]
    report = save(tmp_path / "r.json", report_of(*runs))
    shown = cli("confusion", report, "--trend", "label")
    assert shown.returncode == 0
    for text in ("wanted find", "AVERAGES", "recall, tools", "refund", "risk-weighted", "90.0 % (18/20)"):
        assert text in shown.stdout
    found = json.loads(cli("confusion", report, "--trend", "label", "--format", "json").stdout)
    assert found["confusion"]["averages"]["tools"]["recall"]["undefined"] == ["refund"]
    assert [p["name"] for p in found["trend"]] == ["new", "old"]
    assert json.loads(cli("confusion", report, "--label", "old", "--format", "json").stdout)["runs"] == 20
    assert cli("confusion", report, "--label", "odd").returncode == 2
    assert cli("confusion", report, "--trend", "week").returncode == 2
    assert cli("confusion", report, "--trend", "day", "--zone", "Mars/Base").returncode == 2
    assert cli("confusion", save(tmp_path / "e.json", report_of())).returncode == 3


def test_confusion_and_flips_of_stored_verdicts(cli: Cli, tmp_path: Path) -> None:
    store = open_store(f"chdb://{tmp_path}/store")
    store.write_verdicts([*bug_33(), verdict("late", "find", start_ns=1_793_613_600_000_000_000)])
    store.close()
    found = json.loads(cli("confusion", "--suite", "s", "--format", "json").stdout)
    assert (found["runs"], found["judged"]) == (31, 29)
    late = cli("confusion", "--since", "2026-01-01", "--format", "json")
    assert json.loads(late.stdout)["judged"] == 1
    assert cli("flips", "--suite", "s").returncode == 0
    assert cli("confusion", "--suite", "odd").returncode == 3


def test_groups_agency_and_redundancy_are_shown(cli: Cli, tmp_path: Path) -> None:
    runs = [verdict("a", "find"), verdict("b", "find", "refund")]
    facts = {
        run.run_id: RunFacts(
            agent="shop", tools_offered=("find", "pay"), tools_used=(run.first_action,), calls=2, redundant=1
        )
        for run in runs
    }
    groups = {"a": CaseGroup("g", "same"), "b": CaseGroup("g", "same")}
    report = save(tmp_path / "r.json", report_of(*runs, facts=facts, groups=groups))
    shown = cli("confusion", report).stdout
    for text in ("50.0 % (1/2)  pay", "refund", "redundant calls: 50.0 % (2/4)"):
        assert text in shown
    steady = cli("flips", report)
    assert "stable groups: 0.0 % (0/1)" in steady.stdout
    assert "pairs with both cases right: 0.0 % (0/1)" in steady.stdout
    assert steady.returncode == 3
