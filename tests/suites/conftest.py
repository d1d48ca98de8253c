"""An imported file as a judged suite, in one step."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.judge import judge_run
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import Suite, parse_suite
from otel_toolselect.suites import read_suite, render

LAYERS = ("selection", "arguments", "abstention", "sequencing", "outcome")


def lines(*records: Any) -> str:
    return "".join(json.dumps(r) + "\n" for r in records)


def judged(suite: Suite, run: Run, case: int = 0) -> RunVerdict:
    return judge_run(run, suite.cases[case], suite)


def right(verdict: RunVerdict) -> bool:
    """As the outside check counts it: each of these layers passes or does not apply."""
    layers = (verdict.layers[layer] for layer in LAYERS if layer != "sequencing")  # type: ignore[index]
    return verdict.excluded is None and all(layer.status in ("pass", "n/a") for layer in layers)


Import = Callable[..., Suite]


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    """`imported(kind, text)`: written to a file, imported, rendered, and read back by the loader."""

    def run(kind: str, text: str, *, name: str = "cases.jsonl", packed: bool = False) -> Suite:
        path = tmp_path / (name + (".gz" if packed else ""))
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        return parse_suite("".join(render(read_suite(kind, str(path)))), path="suite.yaml")

    return run
