"""Blocks that are files of ours are read by what reads these files in the product."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from otel_toolselect import config
from otel_toolselect.app.rulefiles import check_files
from otel_toolselect.gates.baselines import parse_baseline
from otel_toolselect.gates.policy import read_policy
from otel_toolselect.preflight import load as load_preflight
from otel_toolselect.receive.tokens import read_tokens
from otel_toolselect.rules.documents import parse_document
from otel_toolselect.suites.experiments import load_experiment
from tests.docs.pages import Block

_SUITES = ("suite", "rules", "tests", "files", "alerts", "alerts_file")


def toml(block: Block, path: Path) -> None:
    if "[[token]]" in block.text:
        path.chmod(0o600)
        assert read_tokens(path)
        return
    settings = config.load(env={config.CONFIG_VARIABLE: str(path), "TOOLSELECT_REDACT_KEY": "k" * 32})
    assert settings != config.Settings() or "default" in block.text, f"{block.where} sets nothing"


def yaml(block: Block, path: Path) -> None:
    first = next(line for line in block.text.splitlines() if line.strip() and not line.startswith("#"))
    kind = first.partition(":")[0].strip()
    if kind in _SUITES:
        problems = [problem for checked in check_files([str(path)]) for problem in checked.problems]
        assert problems == [], f"{block.where}: {problems}"
    elif kind in OTHERS:
        OTHERS[kind](block.text, str(path))
    else:
        pytest.fail(f"{block.where}: no file of ours begins with {kind!r}; known: {', '.join((*_SUITES, *OTHERS))}")


def as_json(block: Block, path: Path) -> None:
    for line in block.text.splitlines() if block.language == "jsonl" else [block.text]:
        json.loads(line)


OTHERS: dict[str, Callable[[str, str], object]] = {
    "experiment": lambda text, path: load_experiment(path),
    "gate": lambda text, path: read_policy(*parse_document(text, path)),
    "preflight": lambda text, path: load_preflight(path),
    "schema": parse_baseline,
}
READERS: dict[str, Callable[[Block, Path], None]] = {"toml": toml, "yaml": yaml, "json": as_json, "jsonl": as_json}
