"""`toolselect triage`: what to fix first."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Suite, Until, examples, format_option
from otel_toolselect.cli._source import MaybePaths, Service


def register(app: typer.Typer) -> None:
    app.command(
        "triage",
        epilog=examples(
            "toolselect triage traces.jsonl --suite suite.yaml",
            "toolselect triage --suite suite.yaml --since 24h --per 1          what the store holds",
            "toolselect triage traces.jsonl --suite suite.yaml --format markdown -o triage.md",
        ),
    )(command)


def command(
    suite: Suite,
    paths: MaybePaths = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    per: Annotated[int, typer.Option("--per", min=1, help="Runs to show of each group.")] = 2,
    passes: Annotated[int, typer.Option("--passes", min=0, help="Passes to sample, to check the oracle.")] = 5,
    form: Annotated[str, format_option("table", "json", "markdown")] = "table",
    output: Output = None,
) -> None:
    """Group the failures by confusion pair and owner, rank them by risk x frequency, show what is needed to fix each.

    The sample of passes is the same for the same runs. Exit code: 0, or 3 when nothing could be judged.
    """
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._source import Source
    from otel_toolselect.errors import TooFewError
    from otel_toolselect.triage.bundles import triage

    done = Source(paths or [], store, since, until, service).judged(suite)
    found = triage(done.report, done.runs, done.suite, source=paths or [], passes=passes)
    if form == "json":
        text = reports.triage_json(found)
    elif form == "markdown":
        text = reports.triage_markdown(found, per=per)
    else:
        text = reports.triage_table(found, per=per, colour=wants_colour(output), width=width(output))
    write([text], output)
    if not found.judged:
        raise TooFewError("no run could be judged; `toolselect doctor` says what arrived")
