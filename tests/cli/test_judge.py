"""The yes/no judge from the command line: settings from the environment, a real endpoint, answers kept."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli import _spans
from tests.cli.conftest import Cli
from tests.llm.endpoint import endpoint, says

SUITE = """
suite: shop
cases:
  - {id: a, prompt: where is my order?, expect: {first: [find], args: {find: {q: {judge: names an order}}}}}
  - {id: b, prompt: refund A-1, expect: {first: [refund]}}
"""


def test_the_command_line_asks_a_real_endpoint_and_keeps_the_answers(cli: Cli, tmp_path: Path) -> None:
    traces = _spans.sample(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    words = ("score", traces, "--suite", tmp_path / "suite.yaml", "--format", "json")

    def layers(out: str) -> dict[str, dict[str, dict[str, object]]]:
        return {r["case_id"]: r["layers"] for r in json.loads(out)["runs"]}

    off = layers(cli(*words).stdout)
    assert off["a"]["arguments"]["status"] == "needs_review"
    with endpoint(lambda n, body: says("yes" if "names an order" in str(body) else "no")) as told:
        told_env = {
            "TOOLSELECT_JUDGE_URL": told.url,
            "TOOLSELECT_JUDGE_MODEL": "m-1",
            "TOOLSELECT_JUDGE_KEY": "s3cret",
            "TOOLSELECT_JUDGE_CACHE": str(tmp_path / "kept"),
            "TOOLSELECT_JUDGE_ADJUDICATE": "true",
        }
        done = cli(*words, **told_env)
        on = layers(done.stdout)
        asked = len(told.seen)
        again = cli(*words, **told_env)
    assert on["a"]["arguments"]["status"] == "pass"
    assert on["b"]["selection"]["status"] == "fail"
    assert "legitimate alternative" in str(on["b"]["selection"]["explanation"])
    assert asked == len(told.seen) == 2
    assert done.returncode == again.returncode == 1
    assert "s3cret" not in done.stdout + done.stderr
    assert layers(again.stdout)["a"]["arguments"]["status"] == "pass"
