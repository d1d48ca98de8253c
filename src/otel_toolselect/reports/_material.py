"""What a report may show beside the figures: the runs themselves, and where the cases stand in their file.

All of it is optional: a writer says what it can with what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import Run


@dataclass(frozen=True, slots=True)
class Material:
    """`runs` by run id; `suite_path` as the user typed it; `lines` by case id, counted from 1."""

    runs: Mapping[str, Run] = field(default_factory=dict)
    suite_path: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    def place(self, case_id: str) -> str:
        """`suite.yaml:12`, as an editor wants it; "" where it is not known."""
        line = self.lines.get(case_id, 0)
        if not self.suite_path:
            return ""
        return f"{self.suite_path}:{line}" if line else self.suite_path


NOTHING = Material()


@runtime_checkable
class Illustrated(Protocol):
    """A writer that can use more than the figures. `render_with` is pure, like `render`."""

    def render_with(self, report: Report, material: Material, *, colour: bool, width: int) -> str: ...
