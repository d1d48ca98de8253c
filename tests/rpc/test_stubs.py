"""The stubs are what `proto/` makes, and `proto/` is written as it should be."""

from __future__ import annotations

import importlib.util
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PROTOS = sorted((ROOT / "proto").rglob("*.proto"))


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "proto" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stubs_are_fresh(generator: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = generator.generate()
    assert generator.differences(made) == []
    monkeypatch.setattr(generator, "TARGET", tmp_path)
    assert len(generator.differences(made)) == len(made) > 10


@pytest.mark.parametrize("path", PROTOS, ids=lambda path: path.name)
def test_every_message_field_value_and_method_has_a_comment(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    declared = re.compile(
        r"^\s*(message \w+|enum \w+|service \w+|rpc \w+|oneof \w+|(repeated |optional |map<.*> )?[\w.]+ \w+ = \d+)"
    )
    bare = [line for before, line in pairwise(lines) if declared.match(line) and "//" not in before]
    obvious = re.compile(r"_UNSPECIFIED = 0|SEVERITY_|^package|^syntax")
    assert [line for line in bare if not obvious.search(line)] == []


@pytest.mark.parametrize("path", PROTOS, ids=lambda path: path.name)
def test_names_are_as_they_should_be(path: Path) -> None:
    """As the standard rules of buf want them."""
    text = path.read_text("utf-8")
    assert path.parent == ROOT / "proto" / "toolselect" / "v1"
    assert "package toolselect.v1;" in text
    for service in re.findall(r"^service (\w+)", text, re.MULTILINE):
        assert service.endswith("Service")
    for method, request, response in re.findall(r"rpc (\w+)\((\w+)\) returns \((?:stream )?(\w+)\)", text):
        assert (request, response) == (f"{method}Request", f"{method}Response")
    for enum, body in re.findall(r"^enum (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum).upper() + "_"
        values = re.findall(r"^  (\w+) = (\d+);", body, re.MULTILINE)
        assert values[0] == (f"{prefix}UNSPECIFIED", "0")
        assert all(name.startswith(prefix) for name, _ in values)
