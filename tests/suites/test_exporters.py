"""Exporters: what a format holds comes back by its importer, what it cannot hold is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_toolselect.errors import UsageError
from otel_toolselect.rules import parse_suite
from otel_toolselect.suites import export_suite, read_suite, render
from otel_toolselect.suites.exporting import exporters
from otel_toolselect.suites.importing import importers
from tests.builders import call, run
from tests.suites.conftest import judged

SUITE = """
suite: shop
cases:
  - {id: one, prompt: find it, expect: {class: required, first: [search]}}
  - {id: none, prompt: hello, expect: {class: none}}
  - id: two
    prompt: find and refund
    expect:
      reference: {mode: exact, calls: [search, {tool: refund, args: {id: A-1, n: {literal: {range: 1}}}}]}
      never: [delete]
  - {id: fuzzy, prompt: maybe, expect: {reference: {calls: [{tool: refund, args: {id: {matches: A}}}], mode: superset}}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return str(path)


def test_tiny(suite: str) -> None:
    text, notes = export_suite("tiny", suite)
    made = {r["id"]: r["expected"] for r in map(json.loads, text.splitlines())}
    assert made == {"one": "search", "none": "none", "two": "search", "fuzzy": "refund"}
    assert any(n.startswith("two: not exported: never") for n in notes)
    assert any("fuzzy" in n and "the matcher of refund.id" in n for n in notes)


@pytest.mark.parametrize("kind", ["adk-evalset", "promptfoo"])
def test_there_and_back(kind: str, suite: str, tmp_path: Path) -> None:
    back = tmp_path / "back.json"
    back.write_text(export_suite(kind, suite)[0], encoding="utf-8")
    again = parse_suite("".join(render(read_suite(kind, str(back)))), path="again.yaml")
    at = next(i for i, c in enumerate(again.cases) if c.prompt == "find and refund")
    args = {"id": "A-1", "n": {"range": 1}}
    for calls, expected in (
        ([call("search"), call("refund", args)], True),
        ([call("refund", args), call("search")], False),
        ([call("search"), call("refund", {**args, "id": "A-2"})], False),
    ):
        layers = judged(again, run(*calls), at).layers
        assert all(layers[k].status in ("pass", "n/a") for k in ("selection", "arguments", "sequencing")) == expected


def test_a_tiny_suite_is_exported_too(tmp_path: Path) -> None:
    path = tmp_path / "tiny.jsonl"
    path.write_text('{"id": "a", "request": "p", "expected": "x"}\n', encoding="utf-8")
    assert json.loads(export_suite("tiny", str(path))[0]) == {"id": "a", "request": "p", "expected": "x"}


def test_kinds(suite: str) -> None:
    with pytest.raises(UsageError, match="unknown kind 'adk'"):
        export_suite("adk", suite)
    for plugin in [*importers().values(), *exporters().values()]:
        assert plugin.about
        assert len(plugin.about) < 100


def test_every_importer_and_exporter_has_a_test() -> None:
    here = Path(__file__).parent
    tested = "".join(p.read_text("utf-8") for p in here.glob("test_*.py"))
    for name in {*importers(), *exporters()}:
        assert f'"{name}"' in tested, name
