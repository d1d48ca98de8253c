"""`toolselect monitor`: watch production with alerts; here, test them."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, examples, format_option

FAILED = 1


def register(app: typer.Typer) -> None:
    monitor = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=DESCRIPTION)
    monitor.command("test", epilog=_TEST)(run_tests)
    app.add_typer(monitor, name="monitor")


DESCRIPTION = """Watch production traffic: alerts on what agents choose, and tests of these alerts.

\b
Examples:
  toolselect monitor test support.alerts.test.yaml     would these alerts fire when they should?
  toolselect rules check support.alerts.yaml           every mistake of an alert file, with its place
"""
_TEST = examples(
    "toolselect monitor test support.alerts.test.yaml",
    "toolselect monitor test alerts/ --run 'gap|late'",
    "toolselect monitor test alerts/ -o report.xml         JUnit XML, by the ending",
)


def run_tests(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", show_default=False, help="Test files of alerts, or folders that are searched for them."
        ),
    ],
    run: Annotated[
        str, typer.Option("--run", metavar="PATTERN", show_default=False, help="Only tests whose name this RE2 finds.")
    ] = "",
    form: Annotated[str, format_option("table", "json", "junit")] = "table",
    output: Output = None,
) -> None:
    """Carry out tests of alert files: given series under a simulated clock, expected states and notifications.

    What came out otherwise is shown as a diff. `-o FILE.xml` without --format writes JUnit XML.
    Exit code: 0 all tests passed, 1 some failed, 2 a file has mistakes.
    """
    from otel_toolselect import reports
    from otel_toolselect.app import alertfiles
    from otel_toolselect.cli._output import say, wants_colour, width, write

    outcomes = alertfiles.rehearse_alerts(files, pick=run)
    if form == "table" and output is not None and output.endswith(".xml"):
        form = "junit"
    if form == "table":
        text = reports.outcomes_table(outcomes, colour=wants_colour(output), width=width(output))
    else:
        text = (reports.outcomes_json if form == "json" else reports.outcomes_junit)(outcomes)
    write([text], output)
    failed = sum(not outcome.passed for outcome in outcomes)
    if failed:
        if form != "table" or output is not None:
            say(f"{failed} of {len(outcomes)} tests failed")
        raise typer.Exit(FAILED)
