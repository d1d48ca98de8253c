"""`toolselect catalog list|diff|lint`: the tools that agents were offered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option
from otel_toolselect.cli._source import MaybePaths, Service

if TYPE_CHECKING:
    from otel_toolselect.cli._source import Source
    from otel_toolselect.model.catalogs import Catalog

FAILED = 1
MaybeSuite = Annotated[
    str | None,
    typer.Option("--suite", "-s", metavar="FILE", help="Judge the runs, and use observed confusion, effects, prompts."),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="The tools that agents were offered: list catalogs, compare two, find what makes wrong choices likely.",
        epilog=examples(
            "toolselect catalog list traces.jsonl",
            "toolselect catalog diff 3f2a 9c41 --since 7d",
            "toolselect catalog lint traces.jsonl --suite suite.yaml",
        ),
    )
    group.command("list")(list_command)
    group.command("diff")(diff_command)
    group.command("lint")(lint_command)
    app.add_typer(group, name="catalog")


def list_command(
    paths: MaybePaths = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Every catalog that a run was offered, with its tools; most used first."""
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._source import Source

    found = _catalogs(Source(paths or [], store, since, until, service))
    if form == "json":
        write([reports.catalogs_json(found)], output)
    else:
        write([reports.catalogs_table(found, colour=wants_colour(output), width=width(output))], output)


def diff_command(
    before: Annotated[str, typer.Argument(metavar="A", help="Beginning of a catalog id.")],
    after: Annotated[str, typer.Argument(metavar="B", help="Beginning of another.")],
    paths: MaybePaths = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """What tools were added, removed or described differently from A to B."""
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._source import Source
    from otel_toolselect.triage.catalogs import chosen, diff

    found = _catalogs(Source(paths or [], store, since, until, service))
    result = diff(chosen(found, before), chosen(found, after))
    if form == "json":
        write([reports.diff_json(result)], output)
    else:
        write([reports.diff_table(result, colour=wants_colour(output), width=width(output))], output)


def lint_command(
    paths: MaybePaths = None,
    suite: MaybeSuite = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Overlapping tools, side effects not named, advertising, too many tools, leaked test wording, generic tools.

    Each suspicion comes with the texts to compare. Exit code: 0 no warning (notes are no failure), 1 warnings.
    """
    from otel_toolselect import reports
    from otel_toolselect.cli._output import say, wants_colour, width, write
    from otel_toolselect.cli._source import Source
    from otel_toolselect.triage.catalog_lint import Context, lint
    from otel_toolselect.triage.catalogs import catalogs

    source, context = Source(paths or [], store, since, until, service), Context()
    if suite is None:
        say("without --suite overlap is judged by words alone: observed confusion and effects are not known")
        found = _catalogs(source)
    else:
        done = source.judged(suite)
        found = _some(catalogs(done.runs.values()))
        policy = done.suite.policy
        effects = {name: tool.effect for name, tool in policy.tools.items()}
        prompts = [case.prompt for case in done.suite.cases if case.prompt]
        context = Context(dict(done.report.confusion.cells), effects, prompts)
    result = lint(found, context)
    if form == "json":
        text = reports.suspicions_json(result, len(found))
    else:
        text = reports.suspicions_table(result, len(found), colour=wants_colour(output), width=width(output))
    write([text], output)
    if any(one.severity == "warning" for one in result):
        raise typer.Exit(FAILED)


def _catalogs(source: Source) -> tuple[Catalog, ...]:
    from otel_toolselect.triage.catalogs import catalogs

    return _some(catalogs(source.runs()))


def _some(found: tuple[Catalog, ...]) -> tuple[Catalog, ...]:
    from otel_toolselect.errors import TooFewError

    if not found:
        raise TooFewError("no run here recorded the tools it was offered; `toolselect doctor` says how to record them")
    return found
