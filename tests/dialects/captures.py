"""Captured spans of real instrumentation libraries, with the truth of each scenario (see captures/README.md)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from otel_toolselect import assemble, dialects
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp import files

FOLDER = Path(__file__).parent / "captures"


class Scenario(NamedTuple):
    library: str
    name: str

    def __str__(self) -> str:
        return f"{self.library}-{self.name}"

    @property
    def paths(self) -> list[str]:
        found = (FOLDER / self.library / f"{self.name}.{kind}.jsonl.gz" for kind in ("otlp", "logs"))
        return [str(p) for p in found if p.exists()]

    @property
    def golden(self) -> Path:
        return FOLDER / self.library / "expected" / f"{self.name}.events.jsonl"

    @property
    def truth(self) -> dict[str, Any]:
        found: dict[str, Any] = _truth(self.library)["scenarios"][self.name]
        return found


@cache
def _truth(library: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / library / "truth.json").read_text())
    return found


ALL = [
    Scenario(p.parent.name, s) for p in sorted(FOLDER.glob("*/truth.json")) for s in _truth(p.parent.name)["scenarios"]
]


@cache
def signals(scenario: Scenario) -> tuple[tuple[Span, ...], tuple[LogRecord, ...]]:
    batches = list(files.read(scenario.paths))
    return tuple(s for b in batches for s in b.spans), tuple(r for b in batches for r in b.logs)


def runs_of(spans: tuple[Span, ...], logs: tuple[LogRecord, ...] = ()) -> list[Run]:
    return assemble.assemble(dialects.read(spans, logs))


@cache
def runs(scenario: Scenario) -> tuple[Run, ...]:
    return tuple(runs_of(*signals(scenario)))


def read_file(path: Path) -> list[Run]:
    batches = list(files.read([str(path)]))
    return runs_of(tuple(s for b in batches for s in b.spans), tuple(r for b in batches for r in b.logs))
