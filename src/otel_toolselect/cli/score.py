"""`toolselect score`: judge trace files against a suite."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Paths, Suite, examples, report_format


def register(app: typer.Typer) -> None:
    app.command(
        "score",
        epilog=examples(
            "toolselect score traces.jsonl --suite suite.yaml",
            "toolselect score spans.jsonl logs.jsonl --suite cases.jsonl --format json -o report.json",
            "toolselect score traces.jsonl --suite suite.yaml --format html -o report.html",
            "zcat traces.jsonl.gz | toolselect score - --suite suite.yaml",
        ),
    )(command)


def command(
    paths: Paths,
    suite: Suite,
    form: Annotated[str, report_format()] = "table",
    output: Output = None,
) -> None:
    """Judge the runs in trace files against a suite and print the scorecard.

    Exit code: 0 every judged run passed, 1 some failed, 3 nothing could be judged.
    """
    from otel_toolselect import app
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._verdict import finish

    finish(app.scored(paths, suite, warn=say), form, output)
