from __future__ import annotations

import json
from pathlib import Path

from tests.cli._spans import agent_trace
from tests.cli.conftest import Cli


def offered(folder: Path) -> Path:
    """Two runs of two catalogs that differ in one description."""
    lines = []
    for index, told in ((1, "Search orders. Changes nothing."), (2, "The best search!")):
        tools = json.dumps([{"type": "function", "name": "find", "description": told}])
        document = json.loads(agent_trace(index, "where?", "there", ("find", {"q": "x"}, {})))
        for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            span["attributes"].append({"key": "gen_ai.tool.definitions", "value": {"stringValue": tools}})
        lines.append(json.dumps(document))
    path = folder / "offered.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_list_diff_lint(cli: Cli, tmp_path: Path) -> None:
    traces = offered(tmp_path)
    listed = cli("catalog", "list", traces, "--format", "json")
    assert listed.returncode == 0, listed.stderr
    ids = sorted(c["id"] for c in json.loads(listed.stdout)["catalogs"])
    assert len(ids) == 2
    differ = cli("catalog", "diff", ids[0], ids[1].removeprefix("sha256:")[:8], traces)
    assert differ.returncode == 0, differ.stderr
    assert "~ find (description)" in differ.stdout
    lint = cli("catalog", "lint", traces)
    assert lint.returncode == 1
    assert "advertis" in lint.stdout
    assert "without --suite" in lint.stderr
    suite = tmp_path / "s.yaml"
    suite.write_text(
        "suite: s\npolicy: {tools: {find: {effect: read}}}\ncases:\n"
        "  - {id: a, prompt: 'where?', expect: {first: [find]}}\n"
    )
    judged = cli("catalog", "lint", traces, "--suite", suite, "--format", "json")
    assert judged.returncode == 1
    assert [s["kind"] for s in json.loads(judged.stdout)["suspicions"]] == ["advertising"]


def test_no_catalog_and_a_wrong_id(cli: Cli, tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_text(agent_trace(1, "hi", "hello") + "\n", "utf-8")
    assert cli("catalog", "list", plain).returncode == 3
    wrong = cli("catalog", "diff", "zz", "yy", offered(tmp_path))
    assert wrong.returncode == 2
    assert "there are:" in wrong.stderr
