"""`toolselect compare`: reports side by side, and what moved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option
from otel_toolselect.cli._reports_in import Asked, MaybeSuite, Service

if TYPE_CHECKING:
    from otel_toolselect.model.figures import Report


def register(app: typer.Typer) -> None:
    app.command(
        "compare",
        epilog=examples(
            "toolselect compare before.json after.json",
            "toolselect compare gpt.json claude.json local.json --format markdown",
            "toolselect compare report.json --by label               one report, many experiments",
            "toolselect compare report.json --by catalog             accuracy against catalog size and variant",
            "toolselect compare --suite suite.yaml --by model        from the store",
        ),
    )(command)


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REPORT.json]...", show_default=False, help="Reports; the first is held against."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="WHAT", help="Split by label, model, prompt, catalog or agent.")
    ] = None,
    suite: MaybeSuite = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    form: Annotated[str, format_option("table", "json", "markdown")] = "table",
    output: Output = None,
) -> None:
    """Show what moved between reports: model, prompt or catalog; flipped cases, displaced cells, cost beside accuracy.

    Figures are over the cases that all sides have. Exit code: 0 compared, 3 no case is on all sides.
    """
    from otel_toolselect import gates, reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.errors import UsageError

    if by is not None and by not in gates.SPLITS:
        raise UsageError(f"--by {by!r} is none of {', '.join(gates.SPLITS)}")
    found = gates.compare(_sides(paths or [], by, Asked(None, suite, store, since, until, service)))
    if form == "table":
        write([reports.comparison_table(found, colour=wants_colour(output), width=width(output))], output)
    else:
        write([reports.comparison_json(found) if form == "json" else reports.comparison_markdown(found)], output)


def _sides(paths: list[str], by: str | None, asked: Asked) -> list[tuple[str, Report]]:
    """Each file is a side, named by its stem; with `by` each of its parts is one."""
    from otel_toolselect import gates
    from otel_toolselect.reports import read_report

    if not paths:
        return _parts(gates.split(asked.judged(), by or "label"), by or "label")
    whole = [(Path(path).stem, read_report(path)) for path in paths]
    if by is None:
        return whole
    if len(whole) == 1:
        return _parts(gates.split(whole[0][1], by), by)
    return [(f"{name} {part}", side) for name, report in whole for part, side in gates.split(report, by)]


def _parts(found: list[tuple[str, Report]], by: str) -> list[tuple[str, Report]]:
    from otel_toolselect.errors import UsageError

    if len(found) == 1:
        raise UsageError(f"nothing to compare: every run has the {by} {found[0][0]}")
    return found
