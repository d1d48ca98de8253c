"""GitHub annotations: workflow commands that GitHub shows beside the line of the case (R54).

One line per case that failed (error), one per case that a person must review (warning), and one notice that sums up.
Worst cases first: GitHub shows ten errors and ten warnings of a step and keeps the rest in the log. Whatever a trace
says is data: breaks and percent signs are escaped, so no text can start a command of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.reports._material import NOTHING, Material
from otel_toolselect.reports._plain import short
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._words import count, counted, interval
from otel_toolselect.reports._worst import failed_layers, worst_failures

REQUEST_LENGTH = 160


class GitHubWriter:
    """Writes one workflow command a line."""

    name = "github"

    def render(self, report: Report, *, colour: bool = False, width: int = 0) -> str:
        return self.render_with(report, NOTHING)

    def render_with(self, report: Report, material: Material, *, colour: bool = False, width: int = 0) -> str:
        return "".join(line + "\n" for line in _lines(report, material))


def _lines(report: Report, material: Material) -> Iterator[str]:
    cases: dict[str, list[RunVerdict]] = {}
    for run in worst_failures(report, len(report.runs)):
        cases.setdefault(run.case_id, []).append(run)
    of_case: dict[str, int] = {}
    for run in report.runs:
        of_case[run.case_id] = of_case.get(run.case_id, 0) + 1
    for case_id, runs in cases.items():
        repeated = f" ({len(runs)} of {of_case[case_id]} runs)" if of_case[case_id] > 1 else ""
        title = f"{case_id}: {runs[0].failure or 'failed'}{repeated}"
        yield command("error", _failure(runs[0]), **_place(material, case_id), title=title)
    for run in report.runs:
        unsure = [v.explanation for v in run.layers.values() if v.status == "needs_review"]
        if unsure and run.case_id not in cases:
            title = f"{run.case_id}: needs review"
            yield command("warning", "; ".join(dict.fromkeys(unsure)), **_place(material, run.case_id), title=title)
    yield command("notice", _sum(report), title=f"toolselect {report.suite}")


def _place(material: Material, case_id: str) -> dict[str, str]:
    line = material.lines.get(case_id, 0)
    place = {"file": material.suite_path} if material.suite_path else {}
    return place | ({"line": str(line)} if place and line else {})


def _failure(run: RunVerdict) -> str:
    lines = [f"wanted {c.expected}, got {c.observed}" for c in run.cells if c.expected != c.observed]
    lines += [f"{layer}: {run.layers[layer].explanation}" for layer in failed_layers(run)]
    if run.request:
        lines.append(f"request: {short(run.request, REQUEST_LENGTH)}")
    if run.owner:
        lines.append(f"first to look: {run.owner}")
    return "\n".join([*lines, f"run {run.run_id}, trace {run.trace_id}"])


def _sum(report: Report) -> str:
    judged = report.summary.judged
    parts = [f"{count(report.summary.runs, 'run')}, {judged} judged"]
    for layer, rate in report.summary.layers.items():
        if rate.n:
            parts.append(f"{layer} {counted(rate.rate, rate.passed, rate.n)}, 95 % interval {interval(rate)}")
    worst = report.confusion.worst_recall
    if worst:
        tool = report.confusion.tools[worst.tool]
        parts.append(f"worst recall: {worst.tool} {counted(tool.recall, tool.correct, tool.support)}")
    return "\n".join(parts)


def command(level: str, message: str, **properties: str) -> str:
    """`::error file=...,line=...,title=...::message`."""
    named = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {named}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


PLUGIN = GitHubWriter()
