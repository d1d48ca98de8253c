"""A check that crashes, seen from the command line: a record, never the end of a judgement (issue C, point 9)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli import _spans

PLUGIN = """
import sys
from otel_toolselect import registry
from otel_toolselect.model.verdicts import Finding

class Check:
    name, layer, decides = "fragile", "outcome", True
    def evaluate(self, view):
        if "refund" in (view.run.request or ""):
            raise KeyError("no such thing")
        return (Finding("fragile", "outcome", "pass", "fine"),)

class Kind:
    name, implicit = "fragile", True
    def parse(self, key, node, draft): pass
    def finish(self, draft): return Check()

found = registry.discover("otel_toolselect.rules.kinds")
found["fragile"] = Kind()
from otel_toolselect.cli import main
main(sys.argv[1:])
"""


def test_the_other_checks_and_runs_go_on(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PLUGIN)
    command = ["main.py", "score", _spans.sample(tmp_path), "--suite", _spans.suite(tmp_path), "--format", "json"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 1, done.stderr
    runs = {r["request"] if "request" in r else r["case_id"]: r for r in json.loads(done.stdout)["runs"]}
    assert len(runs) == 3
    crashed = [r for r in runs.values() if r["layers"]["outcome"]["status"] == "needs_review"]
    whole = [r for r in runs.values() if r["layers"]["outcome"]["status"] == "pass"]
    assert (len(crashed), len(whole)) == (2, 1)
    for run in crashed:
        record = run["layers"]["outcome"]
        assert "the check fragile crashed: KeyError: 'no such thing'" in record["explanation"]
        assert record["evidence"]["run"] == run["run_id"]
        assert record["evidence"]["at"].startswith("__main__:")
        assert (run["failure"], run["owner"]) == ("harness_defect", "evaluation")
        assert run["layers"]["selection"]["status"] in ("pass", "fail")
