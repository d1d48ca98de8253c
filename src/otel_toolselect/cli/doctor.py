"""`toolselect doctor`: what arrived, from which instrumentation, what is missing and which switch turns it on."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option


def register(app: typer.Typer) -> None:
    app.command(
        "doctor",
        epilog=examples(
            "toolselect doctor                         what the store holds",
            "toolselect doctor --since 24h --service support",
            "toolselect doctor traces.jsonl            what a file holds",
        ),
    )(command)


def command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Trace files; without any, the store is looked at.")
    ] = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Annotated[str | None, typer.Option("--service", help="Only this service.name (store only).")] = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Say what arrived, how complete it is for judging, and which switch of the instrumentation brings the rest."""
    from otel_toolselect import app, reports
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import say, wants_colour, width, write
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    settings = load({"store": store})
    if paths:
        spans, logs = app.read_files(paths, say)
    else:
        window = {"since_ns": moment(since), "until_ns": moment(until)}
        with opened(settings.dsn, create=False) as held:
            spans, logs = app.read_store(held, **window, service=service)
    found = app.doctor(spans, logs, settings)
    if form == "json":
        write([reports.arrivals_json(found)], output)
    else:
        write([reports.arrivals_table(found, colour=wants_colour(output), width=width(output))], output)
