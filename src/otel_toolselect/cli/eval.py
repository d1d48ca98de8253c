"""`toolselect eval`: judge what is in the store against a suite."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Suite, Until, examples, report_format


def register(app: typer.Typer) -> None:
    app.command(
        "eval",
        epilog=examples(
            "toolselect eval --suite suite.yaml",
            "toolselect eval --suite suite.yaml --since 24h --format json -o report.json",
            "toolselect eval --suite suite.yaml --store clickhouse://localhost --service support",
        ),
    )(command)


def command(
    suite: Suite,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Annotated[str | None, typer.Option("--service", help="Only traces of this service.name.")] = None,
    form: Annotated[str, report_format()] = "table",
    output: Output = None,
) -> None:
    """Judge the stored runs against a suite, keep the verdicts, print the scorecard.

    Judging again replaces the verdicts. Exit code: 0 every judged run passed, 1 some failed, 3 nothing could be judged.
    """
    from otel_toolselect import app
    from otel_toolselect.app.exporting import export_rest
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._store import opened
    from otel_toolselect.cli._verdict import finish
    from otel_toolselect.config import load

    settings = load({"store": store})
    window = {"since_ns": moment(since), "until_ns": moment(until)}
    with opened(settings.dsn) as held:
        done = app.evaluate(held, suite, **window, service=service, settings=settings)
        if settings.export.on and not export_rest(held, settings.export):
            say("verdicts were not all exported; the next `eval` or `serve` on this store goes on with it")
    finish(done, form, output)
