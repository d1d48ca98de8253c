"""`toolselect diagnose EXPECTED OBSERVED`: why is one tool taken for another?"""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Suite, Until, examples, format_option
from otel_toolselect.cli._source import MaybePaths, Service


def register(app: typer.Typer) -> None:
    app.command(
        "diagnose",
        epilog=examples(
            "toolselect diagnose refund_order get_invoice --suite suite.yaml",
            "toolselect diagnose refund_order ask_followup traces.jsonl --suite suite.yaml",
        ),
    )(command)


def command(
    expected: Annotated[str, typer.Argument(metavar="EXPECTED", help="A tool, or none, ask_followup, refuse_no_tool.")],
    observed: Annotated[str, typer.Argument(metavar="OBSERVED", help="What was taken instead.")],
    suite: Suite,
    paths: MaybePaths = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Walk the layers of one confusion pair: offered? overlapping? consistent? and do paraphrases agree?

    What the data cannot tell is said, with the way to find out. Exit code: 0, or 3 when no run wanted EXPECTED.
    """
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._source import Source
    from otel_toolselect.errors import TooFewError
    from otel_toolselect.triage.diagnosing import diagnose

    done = Source(paths or [], store, since, until, service).judged(suite)
    found = diagnose(done.report, done.runs, done.suite, expected, observed)
    if not found.share.n:
        known = sorted({cell.expected for cell, _ in done.report.confusion.cells})
        raise TooFewError(f"no judged run wanted {expected!r}; wanted were: {', '.join(known) or 'nothing'}")
    if form == "json":
        write([reports.diagnosis_json(found)], output)
    else:
        write([reports.diagnosis_table(found, colour=wants_colour(output), width=width(output))], output)
