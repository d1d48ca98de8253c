"""The JSON Schema never lags behind the registry, takes what the loader takes, and is the published file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from otel_toolselect.rules import _nodes, jsonschema
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.expect import kinds
from otel_toolselect.rules.matching import matchers
from otel_toolselect.rules.problems import Problems
from tests.rules.suites import problems_in

ROOT = Path(__file__).parents[2]
FILES = sorted(
    [*(ROOT / "rules").rglob("*.yaml"), *(ROOT / "src/otel_toolselect/examples").rglob("*.yaml")]
)  # fmt: skip


def value_of(text: str) -> Any:
    problems = Problems("x")
    root = read_yaml(text, problems)
    assert root is not None
    assert not problems.found
    return _nodes.to_json(root)


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema_rs.validator_for(jsonschema.schema())


def test_it_is_a_schema() -> None:
    jsonschema_rs.meta.validate(jsonschema.schema())


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_shipped_files_are_valid(validator: Any, path: Path) -> None:
    errors = [f"{e.instance_path}: {e.message}" for e in validator.iter_errors(value_of(path.read_text("utf-8")))]
    assert errors == []


def test_every_kind_and_matcher_is_in_it_and_described() -> None:
    made = jsonschema.schema()["$defs"]
    written = {name for name, kind in kinds().items() if not kind.implicit}
    assert set(made["expect"]["properties"]) == written
    for name, value in made["expect"]["properties"].items():
        assert len(value["description"]) > 20, name
        assert len(value) > 1, f"{name} needs a schema of its value: in rules.jsonschema, or as the kind's `schema`"
    nested = made["value"]["anyOf"][2]["properties"]
    assert set(matchers()) <= set(nested)
    assert all(nested[name]["description"] for name in matchers())


def known_keys(expect: str) -> set[str]:
    """What the loader says it knows, where a key is unknown."""
    found = [p for p in problems_in(expect) if "'zzqxj'" in p]
    assert len(found) == 1, (expect, found)
    listed = re.search(r"\(known: (.*)\)", found[0])
    assert listed, found
    return set(listed.group(1).split(", "))


@pytest.mark.parametrize(
    ("kind", "written", "at"),
    [
        ("clarify", "{zzqxj: 1}", ()),
        ("budget", "{zzqxj: 1}", ()),
        ("recovery", "{zzqxj: 1}", ()),
        ("answer", "{zzqxj: 1}", ()),
        ("reference", "{zzqxj: 1}", ("anyOf", 0)),
        ("ended", "{zzqxj: 1}", ()),
        ("order", "[{zzqxj: 1}]", ("items",)),
        ("turns", "[{zzqxj: 1}]", ("items",)),
        ("only_if", "[{zzqxj: 1}]", ("items",)),
        ("only_if", "[{when: {zzqxj: 1}}]", ("items", "properties", "when")),
        ("cel", "[{zzqxj: 1}]", ("items", "anyOf", 1)),
        ("reference", "{calls: [{zzqxj: 1}]}", ("anyOf", 0, "properties", "calls", "items", "anyOf", 1)),
    ],
)
def test_keys_are_those_of_the_loader(kind: str, written: str, at: tuple[Any, ...]) -> None:
    made = jsonschema.schema()["$defs"]["expect"]["properties"][kind]
    for step in at:
        made = made[step]
    assert set(made["properties"]) == known_keys(f"{{{kind}: {written}}}")


BAD = [
    "{suite: a}",
    "{suite: a, cases: []}",
    "{suite: a, cases: [{id: b}]}",
    "{suite: a, cases: [{id: b, expect: {}}]}",
    "{suite: a, cases: [{id: b, expect: {frist: [x]}}]}",
    "{suite: a, cases: [{id: b, expect: {class: requird}}]}",
    "{suite: a, cases: [{id: b, expect: {first: x}}]}",
    "{suite: a, policy: {tools: {x: {effect: rite}}}, cases: [{id: b, expect: {first: [x]}}]}",
    "{rules: a, cases: [{id: b, expect: {first: [x]}, severity: bad}]}",
    "{rules: a, cases: [{id: b, expect: {first: [x]}, match: {agnt: x}}]}",
    "{rules: a}",
    "{files: [a], tests: [{name: b, given: {}, expect: [{rule: x, status: passed}]}]}",
    "{files: [a], tests: [{name: b, given: {events: [{cal: x}]}, expect: [{rule: x, status: pass}]}]}",
    "[]",
]


@pytest.mark.parametrize("text", BAD)
def test_mistakes_are_caught(validator: Any, text: str) -> None:
    assert not validator.is_valid(value_of(text))


def test_what_is_loose_is_taken(validator: Any) -> None:
    text = """
    suite: 5
    version: 1.10
    cases:
      - {id: 7, expect: {args: {t: {a: {range: [1, 2]}, b: {range: x, other: 1}, c: NO, d: null, e: [{any: true}]}}}}
      - {id: x, tools: {catalog: "sha256:%s"}, expect: {first: [none]}}
    """
    assert validator.is_valid(value_of(text % ("a" * 64)))


def test_the_published_file_is_this_schema() -> None:
    """`toolselect rules schema -o docs/schema/toolselect.schema.json` writes it again."""
    published = json.loads((ROOT / "docs/schema/toolselect.schema.json").read_text("utf-8"))
    assert published == jsonschema.schema()
