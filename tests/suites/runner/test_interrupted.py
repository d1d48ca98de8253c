"""A run that is stopped, killed or out of time goes on where it was: no attempt twice, none missing (issue H)."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from otel_toolselect.app.running import Wanted, run
from otel_toolselect.cli import main
from otel_toolselect.config import Settings
from otel_toolselect.errors import UsageError
from otel_toolselect.reports import flips_json, read_report
from otel_toolselect.suites.runner import Folder, Header, Options, Playing
from tests.suites.runner.conftest import ROOT, Shop

WAIT_S = 60.0
CASES, ATTEMPTS, BEFORE = 6, 5, 7
# states its call; from the second round on it waits for the file "go", but for the first case
AGENT = """#!/bin/sh
echo "$TOOLSELECT_CASE_ID $TOOLSELECT_ATTEMPT" >> begun
case "$TOOLSELECT_CASE_ID $TOOLSELECT_ATTEMPT" in
  *" 1" | "flip-0 2") ;;
  *) while [ ! -e go ]; do sleep 0.05; done ;;
esac
action=$(cut -d' ' -f"$TOOLSELECT_ATTEMPT" "script-$TOOLSELECT_CASE_ID")
printf '{"calls": [{"name": "%s", "args": {}}]}' "$action"
"""


QUICK = shlex.join(["echo", '{"calls": []}'])


class Play:
    """A folder with a suite whose cases' first actions are scripted: the case `flip-N` differs in N of its attempts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        cases = []
        for n in range(CASES):
            cases.append(f"  - {{id: flip-{n}, prompt: ask {n}, expect: {{first: [right]}}}}")
            actions = ["wrong" if attempt < n else "right" for attempt in range(ATTEMPTS)]
            (folder / f"script-flip-{n}").write_text(" ".join(actions) + "\n", "utf-8")
        (folder / "suite.yaml").write_text("suite: flips\ncases:\n" + "\n".join(cases) + "\n", "utf-8")
        (folder / "agent.sh").write_text(AGENT, "utf-8")
        (folder / "agent.sh").chmod(0o755)
        self.command = [
            *(
                sys.executable,
                "-m",
                "otel_toolselect.cli",
                "run",
                "--suite",
                "suite.yaml",
                "--exec",
                "./agent.sh {prompt}",
            ),
            *("--attempts", str(ATTEMPTS), "--dir", "run", "--format", "json", "-o", "report.json"),
        ]

    def start(self, *more: str) -> subprocess.Popen[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_"))}
        return subprocess.Popen(
            [*self.command, *more],
            cwd=self.folder,
            env=clean,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def finish(self, *more: str) -> tuple[int, str]:
        process = self.start(*more)
        _, said = process.communicate(timeout=WAIT_S)
        return process.returncode, said

    def wait_for(self, done: int) -> None:
        """Until so many attempts are done, and one more is under way."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if len(self.lines("run/journal.jsonl")) >= done and len(self.lines("begun")) > done:
                return
            time.sleep(0.02)
        raise AssertionError("the run did not get so far")

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def go(self) -> None:
        (self.folder / "go").touch()

    def report(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.folder / "report.json").read_text("utf-8"))
        return found


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


def check_whole(play: Play) -> None:
    """Every attempt once in the report, and the flip rate of the script: flip-1 to flip-4 disagree."""
    runs = play.report()["runs"]
    assert isinstance(runs, list)
    seen = Counter((one["case_id"], one["attempt"]) for one in runs)
    assert seen == Counter((f"flip-{n}", a) for n in range(CASES) for a in range(1, ATTEMPTS + 1))
    wrong = Counter(one["case_id"] for one in runs if one["first_action"] == "wrong")
    assert wrong == {f"flip-{n}": n for n in range(1, CASES)}
    rate = json.loads(flips_json(read_report(str(play.folder / "report.json"))))["case_level"]["flip_rate"]
    assert (rate["passed"], rate["n"]) == (4, CASES)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_and_resumed(play: Play, number: signal.Signals) -> None:
    process = play.start()
    play.wait_for(BEFORE)
    process.send_signal(number)
    _, said = process.communicate(timeout=WAIT_S)
    before = play.lines("run/journal.jsonl")
    assert len(before) == BEFORE
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert f"{CASES * ATTEMPTS - BEFORE} attempts are left; go on with" in said
        assert "toolselect run --suite suite.yaml" in said
    play.go()
    code, said = play.finish()
    assert code == 1
    assert f"{BEFORE} of {CASES * ATTEMPTS} attempts are done already" in said
    assert play.lines("run/journal.jsonl")[:BEFORE] == before
    check_whole(play)
    first = play.report()
    assert play.finish()[0] == 1  # nothing is left to run: the same is shown again
    assert play.report() == first
    begun = Counter(play.lines("begun"))
    done_first = {f"{one['case']} {one['attempt']}" for one in map(json.loads, before)}
    assert all(begun[name] == 1 for name in done_first)  # what was done was not run again


def test_the_time_of_a_run_ends(shop: Shop) -> None:
    shop.run("exec", QUICK, cases=["hello"])
    ran = shop.run("exec", f"sh -c 'test -e {shop.folder}/go || sleep 60'", deadline_s=0.3, label="slow", to="slow")
    assert ran.cause == "deadline"
    assert ran.left == 3
    (shop.folder / "go").touch()
    ran = shop.run("exec", f"sh -c 'test -e {shop.folder}/go || sleep 60'", label="slow", to="slow")
    assert ran.cause is None
    assert ran.left == 0


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path, Header("shop", "exec true"))
    with folder.locked(), pytest.raises(UsageError, match="another run is at work"), folder.locked():
        raise AssertionError("both hold it")


def test_what_the_platform_lost_is_run_again(shop: Shop) -> None:
    gate = shop.folder / "up"
    command = shlex.join(["sh", "-c", f"test -e {gate} || kill -9 $$; echo '{{\"calls\": []}}'"])
    first = shop.run("exec", command, cases=["hello"])
    assert first.done.report.summary.infra == 1
    gate.touch()
    again = shop.run("exec", command, cases=["hello"])
    assert again.done.report.summary.judged == 1
    assert again.before == 0


def test_a_dead_target_is_given_up(shop: Shop) -> None:
    ran = shop.run("exec", "sh -c 'kill -9 $$'", attempts=10, playing=Playing(concurrency=1))
    assert ran.cause == "faults"
    assert ran.left == 20


def test_a_dead_target_ends_with_4(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "run",
        "--suite",
        str(shop.suite),
        "--exec",
        "sh -c 'kill -9 $$'",
        "-n",
        "10",
        "--dir",
        str(shop.folder / "x"),
    ]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == 4
    assert "the target does not answer" in capsys.readouterr().err


def test_a_changed_prompt_is_sent_again(shop: Shop) -> None:
    shop.run("exec", QUICK)
    shop.suite.write_text(shop.suite.read_text("utf-8").replace("Show my invoice", "Show the invoice"), "utf-8")
    ran = shop.run("exec", QUICK)
    assert ran.before == 2
    requests = {run.case_id: run.request for run in ran.done.runs.values()}
    assert requests["invoice"] == "Show the invoice"
    assert len(ran.done.report.runs) == 3


def test_another_run_is_not_mixed_in(shop: Shop) -> None:
    shop.run("exec", "true", cases=["hello"])
    with pytest.raises(UsageError, match="holds another run"):
        shop.run("exec", "false", cases=["hello"])


def test_resume_finds_the_newest_run(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(shop.folder / "data"))
    monkeypatch.setenv("HOME", str(shop.folder))
    asked = Wanted(str(shop.suite), "exec", Options(QUICK), cases=["hello"])

    def go(wanted: Wanted) -> object:
        return run(
            wanted,
            Settings(),
            stop=threading.Event(),
            tell=shop.said.append,
            progress=lambda *_: nullcontext(lambda: None),
        )

    with pytest.raises(UsageError, match="no run of shop"):
        go(replace(asked, resume=True))
    first = go(asked)
    second = go(replace(asked, resume=True))
    assert second.folder == first.folder  # type: ignore[attr-defined]
    assert second.before == 1  # type: ignore[attr-defined]
    assert Path(first.folder).is_relative_to(shop.folder)  # type: ignore[attr-defined]
    assert ROOT not in Path(first.folder).parents  # type: ignore[attr-defined]
