"""The end of every judging command: write the report, then say by the exit code how it went."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from otel_toolselect.cli._output import say, wants_colour, width, write
from otel_toolselect.errors import TooFewError
from otel_toolselect.model.figures import Report

if TYPE_CHECKING:
    from otel_toolselect.app import Evaluated
    from otel_toolselect.reports import Material

FAILED = 1


def finish(done: Evaluated, form: str, output: str | None) -> None:
    """Exit code 0: every judged run passed; 1: some failed; 3 (TooFewError): none could be judged."""
    from otel_toolselect.reports import render

    report = done.report
    write([render(form, report, material_of(done), colour=wants_colour(output), width=width(output))], output)
    if form != "table":
        _say_unmatched(report)
    if not report.summary.judged:
        raise TooFewError(_nothing_judged(report))
    failed = any(v.status == "fail" for run in report.runs if not run.excluded for v in run.layers.values())
    if failed:
        raise typer.Exit(FAILED)


def material_of(done: Evaluated) -> Material:
    """The runs, and where the cases stand; a suite below the working folder is named from there, as CI servers want."""
    from otel_toolselect.reports import Material

    path = done.suite.path
    if Path(path).is_absolute() and Path(path).is_relative_to(Path.cwd()):
        path = os.path.relpath(path)
    return Material(done.runs, path, {case.id: case.line for case in done.suite.cases if case.line})


def _say_unmatched(report: Report) -> None:
    if report.unmatched_runs:
        say(f"{report.unmatched_runs} runs matched no case of {report.suite} and count nowhere")
    if report.cases_without_run:
        say(f"{len(report.cases_without_run)} cases of {report.suite} have no run")


def _nothing_judged(report: Report) -> str:
    if report.summary.runs:
        return "no run could be judged: all were excluded (see the report for why)"
    if report.unmatched_runs:
        return (
            f"none of the {report.unmatched_runs} runs belongs to a case of {report.suite}: set the span attribute "
            "toolselect.case.id, or give the case the exact request as its prompt"
        )
    return "no agent run was found; `toolselect doctor` says what arrived"
