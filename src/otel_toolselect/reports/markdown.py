"""Markdown for a pull-request comment and for a job summary (R54).

GitHub refuses comments over 65,536 characters, so failures are shown worst first until the room is used, and the rest
is counted. Texts from traces and suites stand in code spans: no HTML, no link, no image and no @mention in them is
alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otel_toolselect.model.figures import Confusion, Report
from otel_toolselect.model.runs import AssistantText, Event, Run, ToolCall, Unknown
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.reports._material import NOTHING, Material
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._text import code, code_cell
from otel_toolselect.reports._words import count, counted, interval, percent
from otel_toolselect.reports._worst import failed_layers, worst_failures

ROOM = 60_000
PAIRS_SHOWN, TOOLS_SHOWN, EVENTS_SHOWN = 25, 60, 40
TEXT_LENGTH = 200


class MarkdownWriter:
    """GitHub-flavoured Markdown; reads as text too."""

    name = "markdown"

    def render(self, report: Report, *, colour: bool = False, width: int = 0) -> str:
        return self.render_with(report, NOTHING)

    def render_with(self, report: Report, material: Material, *, colour: bool = False, width: int = 0) -> str:
        head = "\n".join([*_head(report), *_scorecard(report), *_pairs(report.confusion), *_tools(report.confusion)])
        return head + "\n" + _failures(report, material, ROOM - len(head))


def _head(report: Report) -> Iterator[str]:
    s = report.summary
    failed = sum(1 for run in report.runs if failed_layers(run))
    state = "no run judged" if not s.judged else f"{failed} of {count(s.judged, 'run')} failed"
    if s.judged and not failed:
        state = f"{count(s.judged, 'run')}, none failed"
    yield f"### toolselect {code(report.suite)}: {state}"
    yield ""
    beside = f"{s.infra} infrastructure, {s.catalog_gap} catalog gap, {s.incomplete} incomplete"
    yield f"{count(s.runs, 'run')}; excluded from every figure: {beside}."
    unsure = sum(any(v.status == "needs_review" for v in run.layers.values()) for run in report.runs)
    if unsure:
        yield f"**{count(unsure, 'run')} to review**: the signals do not suffice to decide."
    if report.unmatched_runs:
        yield f"**{count(report.unmatched_runs, 'run')} matched no case** and count nowhere."
    if report.cases_without_run:
        listed = ", ".join(code(c, 80) for c in report.cases_without_run[:8])
        more = len(report.cases_without_run) - 8
        yield f"**{count(len(report.cases_without_run), 'case')} without a run**: {listed}" + (
            f" and {more} more." if more > 0 else "."
        )


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table; a title that ends in `>` stands right."""
    names = list(titles)
    yield ""
    yield "| " + " | ".join(n.rstrip(">") for n in names) + " |"
    yield "| " + " | ".join("---:" if n.endswith(">") else "---" for n in names) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A part that opens on a click. `title` is ours, never from a trace."""
    yield ""
    yield f"<details><summary>{title}</summary>"
    yield from lines
    yield ""
    yield "</details>"


def _scorecard(report: Report) -> Iterator[str]:
    rows = []
    for layer, rate in report.summary.layers.items():
        if rate.n:
            unit = "call" if layer == "arguments" else "run"
            rows.append((layer, percent(rate.rate), f"{rate.passed}/{count(rate.n, unit)}", interval(rate)))
    if rows:
        yield from table(("layer", "passed>", "of>", "95 % interval"), rows)


def _pairs(confusion: Confusion) -> Iterator[str]:
    wrong = sorted(((c, n) for c, n in confusion.cells if c.expected != c.observed), key=lambda item: -item[1])
    if wrong:
        rows = [(str(n), code_cell(c.expected, 80), code_cell(c.observed, 80)) for c, n in wrong[:PAIRS_SHOWN]]
        yield from table(("n>", "wanted", "got"), rows)
    if len(wrong) > PAIRS_SHOWN:
        yield ""
        yield f"and {count(len(wrong) - PAIRS_SHOWN, 'more pair')}."


def _tools(confusion: Confusion) -> Iterator[str]:
    worst = confusion.worst_recall
    if worst:
        tool = confusion.tools[worst.tool]
        yield ""
        yield f"Worst recall: {code(worst.tool, 80)} {counted(tool.recall, tool.correct, tool.support)}."
    rows = [
        (
            code_cell(name, 80),
            counted(t.recall, t.correct, t.support),
            counted(t.precision, t.correct, t.chosen),
            "n/a" if t.f1 is None else f"{t.f1:.3f}",
        )
        for name, t in list(confusion.tools.items())[:TOOLS_SHOWN]
    ]
    if rows:
        more = len(confusion.tools) - len(rows)
        title = f"Tools ({len(rows)} of {len(confusion.tools)})" if more else "Tools"
        yield from folded(title, table(("tool", "recall>", "precision>", "F1>"), rows))


def _failures(report: Report, material: Material, room: int) -> str:
    worst = worst_failures(report, len(report.runs))
    parts: list[str] = []
    for run in worst:
        part = "\n".join(_failure(run, material)) + "\n"
        if len(part) > room:
            left = count(len(worst) - len(parts), "more failure")
            return "".join(parts) + f"\n{left}: see the full report (`--format html` or `json`).\n"
        parts.append(part)
        room -= len(part)
    return "".join(parts)


def _failure(run: RunVerdict, material: Material) -> Iterator[str]:
    kind = f" ({run.failure}; first to look: {run.owner})" if run.failure else ""
    yield ""
    yield f"#### {code(run.case_id, 120)}{kind}"
    yield ""
    facts = [("request", run.request or ""), ("case", material.place(run.case_id))]
    yield from (f"- {name}: {code(text, TEXT_LENGTH)}" for name, text in facts if text)
    for cell in run.cells:
        if cell.expected != cell.observed:
            yield f"- wanted {code(cell.expected, 80)}, got {code(cell.observed, 80)}"
    for layer in failed_layers(run):
        yield f"- {layer}: {code(run.layers[layer].explanation, 2 * TEXT_LENGTH)}"
    yield f"- run {code(run.run_id)}, trace {code(run.trace_id)}"
    seen = material.runs.get(run.run_id)
    if seen is not None and seen.events:
        yield from folded("What the agent did", events(seen))


def events(run: Run) -> Iterator[str]:
    """The events of a run as a table."""
    ordered = sorted(run.events, key=lambda e: e.seq)
    rows = [(str(event.turn), *_event(event)) for event in ordered[:EVENTS_SHOWN]]
    yield from table(("turn>", "event", "what", "how"), rows)
    if len(ordered) > EVENTS_SHOWN:
        yield ""
        yield f"and {count(len(ordered) - EVENTS_SHOWN, 'more event')}."


def _event(event: Event) -> tuple[str, str, str]:
    if isinstance(event, AssistantText):
        return "text", code_cell(event.text, TEXT_LENGTH), ""
    if isinstance(event, ToolCall):
        what = f"{event.name} {_value(event.args)}"
        how = " ".join(word for word, seen in (("emitted", event.emitted), ("executed", event.executed)) if seen)
        return "call", code_cell(what, TEXT_LENGTH), how
    outcome = {True: "ok", False: "failed", None: "outcome not recorded"}[event.ok]
    error = f" {code_cell(event.error_type, 60)}" if event.error_type else ""
    what = f"{event.name} {_value(event.value)}"
    return "result", code_cell(what, TEXT_LENGTH), outcome + error + (" infrastructure" if event.infra else "")


def _value(value: object) -> str:
    return f"({value.reason})" if isinstance(value, Unknown) else dumps(value)


PLUGIN = MarkdownWriter()
