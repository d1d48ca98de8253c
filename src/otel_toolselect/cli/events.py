"""`toolselect events`: what the agents in trace files did, event by event."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Paths, examples, format_option


def register(app: typer.Typer) -> None:
    app.command(
        "events",
        epilog=examples(
            "toolselect events traces.jsonl",
            "toolselect events spans.jsonl.gz logs.jsonl --format json | jq 'select(.kind == \"tool_call\")'",
            "toolselect events captured/ --runs",
        ),
    )(command)


def command(
    paths: Paths,
    runs: Annotated[bool, typer.Option("--runs", help="One line per run instead of one per event.")] = False,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Read trace files of any dialect and list their runs and events.

    JSON is one object a line; keys that do not apply are absent.
    """
    from otel_toolselect import app, reports
    from otel_toolselect.cli._output import say, wants_colour, width, write

    found = app.runs_from_files(paths, warn=say)
    if form == "json":
        write(reports.run_lines(found) if runs else reports.event_lines(found), output)
    else:
        render = reports.run_table if runs else reports.timelines
        write([render(found, colour=wants_colour(output), width=width(output))], output)
    if not found:
        say("no agent run in these files; `toolselect doctor PATH...` says what they hold")
