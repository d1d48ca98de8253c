"""`toolselect flips`: how steady repeated runs are, and which cases flip."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option
from otel_toolselect.cli._reports_in import Asked, Label, MaybeReport, SuiteName


def register(app: typer.Typer) -> None:
    app.command(
        "flips",
        epilog=examples(
            "toolselect flips report.json",
            "toolselect flips --suite support-agent --since 7d        verdicts that the store keeps",
            "toolselect flips report.json --format json | jq .case_level.flip_rate",
        ),
    )(command)


def command(
    report: MaybeReport = None,
    suite: SuiteName = None,
    label: Label = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Show the flip rate, the flipping cases, pass^k and majorities, each with its level: observations or cases.

    Exit code: 0 shown, 3 no case has two attempts.
    """
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.errors import TooFewError
    from otel_toolselect.stats import repeats

    found = Asked(report, suite, store, since, until, label=label).stored()
    if form == "json":
        write([reports.flips_json(found)], output)
    else:
        write([reports.flips_table(found, colour=wants_colour(output), width=width(output))], output)
    if not repeats(found.runs).flips.n:
        raise TooFewError("no case has two attempts under one label and model: run a subset three to five times")
