"""What `toolselect rules check` says of files, and what a rules file says of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.errors import Problem
from otel_toolselect.model.rulings import Ruling, Rulings
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps

CHECK_SCHEMA = "toolselect.check/1"
RULINGS_SCHEMA = "toolselect.rulings/1"
_STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "needs_review": "warn", "excluded": "dim", "n/a": "dim"}


@dataclass(frozen=True, slots=True)
class Checked:
    """One file: what it is (see `rules.sniffing`; "" when that cannot be told), how many entries, what is wrong."""

    path: str
    kind: str = ""
    name: str = ""
    entries: int = 0
    problems: tuple[Problem, ...] = ()


def checked_table(files: Sequence[Checked]) -> str:
    """A line per problem, in the form that editors jump to; a line per file that is fine. Never wrapped."""
    lines: list[str] = []
    for file in files:
        if file.problems:
            lines += [str(p) for p in file.problems]
        else:
            what = {"suite": "cases", "alert tests": "tests"}.get(file.kind, file.kind)
            name = f" {file.name}" if file.name else ""
            lines.append(f"{file.path}: ok, {file.kind}{name}, {file.entries} {what}")
    return "\n".join(" ".join(line.split()) for line in lines) + "\n"


def checked_json(files: Sequence[Checked]) -> str:
    found = [
        {
            "path": f.path,
            "ok": not f.problems,
            "kind": f.kind or None,
            "name": f.name or None,
            "entries": f.entries,
            "problems": [
                {"path": p.path, "line": p.line, "column": p.column, "message": p.message, "suggestion": p.suggestion}
                for p in f.problems
            ],
        }
        for f in files
    ]
    total = sum(len(f.problems) for f in files)
    return dumps({"schema": CHECK_SCHEMA, "problems": total, "files": found}) + "\n"


def rulings_table(rulings: Rulings, *, colour: bool, width: int) -> str:
    """Per rule how many runs it judged and how; then every failure with its reason."""
    blocks: list[Block] = [Heading(f"rules {rulings.rules}: {rulings.runs} runs")]
    columns = (Column("rule"), Column("severity"), *(Column(w, right=True) for w in ("runs", *_STYLES)))
    by_rule: dict[str, list[Ruling]] = {rule: [] for rule in rulings.rules_without_run}
    for ruling in rulings.rulings:
        by_rule.setdefault(ruling.rule, []).append(ruling)
    rows = []
    for rule, mine in by_rule.items():
        counts = [sum(r.status == word for r in mine) for word in _STYLES]
        cells = [Cell(str(n) if n else "·", _STYLES[w] if n else "dim") for n, w in zip(counts, _STYLES, strict=True)]
        rows.append((Cell(rule), Cell(mine[0].severity if mine else ""), Cell(str(len(mine))), *cells))
    blocks.append(Grid(columns, tuple(rows)))
    shown = [r for r in rulings.rulings if r.status in ("fail", "needs_review")]
    if shown:
        blocks.append(Heading("findings"))
    for ruling in shown:
        style = _STYLES[ruling.status]
        owner = f" -> {ruling.verdict.owner}" if ruling.verdict.owner else ""
        blocks.append(Line(f"{ruling.status} {ruling.rule} ({ruling.severity}){owner}", style, 2))
        blocks.append(Line(f"run {ruling.verdict.run_id} trace {ruling.verdict.trace_id}", "dim", 4))
        for name, layer in ruling.verdict.layers.items():
            if layer.status == ruling.status:
                blocks.append(Line(f"{name}: {layer.explanation}", "", 4))
    if rulings.unmatched_runs:
        blocks.append(Line(f"{rulings.unmatched_runs} runs are the business of no rule", "dim", 2))
    return paint(blocks, colour=colour, width=width)


def rulings_json(rulings: Rulings) -> str:
    whole = {
        "schema": RULINGS_SCHEMA,
        "rules": rulings.rules,
        "policy_version": rulings.policy_version,
        "runs": rulings.runs,
        "unmatched_runs": rulings.unmatched_runs,
        "rules_without_run": list(rulings.rules_without_run),
        "rulings": [_record(r) for r in rulings.rulings],
    }
    return dumps(whole) + "\n"


def _record(ruling: Ruling) -> dict[str, Any]:
    v = ruling.verdict
    return {
        "rule": ruling.rule,
        "severity": ruling.severity,
        "status": ruling.status,
        "run_id": v.run_id,
        "parent_run_id": v.parent_run_id,
        "trace_id": v.trace_id,
        "first_action": v.first_action,
        "observed_class": v.observed_class,
        "excluded": v.excluded,
        "failure": v.failure,
        "owner": v.owner,
        "layers": {
            name: {"status": layer.status, "evidence": layer.evidence, "explanation": layer.explanation}
            for name, layer in v.layers.items()
        },
    }
