"""`toolselect experiment`: the same cases under other descriptions, sizes, orders, retrievals, models."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli import _target as t
from otel_toolselect.cli._options import Output, Store, examples, format_option

_STOPPED = 130


def register(app: typer.Typer) -> None:
    app.command(
        "experiment",
        epilog=examples(
            "toolselect experiment descriptions.yaml",
            "toolselect experiment sizes.yaml --attempts 5 --dir runs/sizes --format html -o sizes.html",
            "toolselect experiment sizes.yaml --dir runs/sizes --format svg -o sizes.svg     nothing is sent again",
        ),
    )(command)


def command(
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="What is held and what is varied.")],
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Instead of that of every model in the file.")
    ] = None,
    attempts: Annotated[
        int | None, typer.Option("--attempts", "-n", min=1, help="How often each case is sent. Default: the file's.")
    ] = None,
    concurrency: t.Concurrency = 4,
    timeout: t.Timeout = 120.0,
    retries: t.Retries = 2,
    case: t.Case = None,
    tag: t.Tag = None,
    folder: t.Folder = None,
    store: Store = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep spans and verdicts in the store too.")] = False,
    form: Annotated[str, format_option("table", "json", "markdown", "html", "svg")] = "table",
    output: Output = None,
) -> None:
    """Ask models for their decisions with prompts held and the catalog or the model varied; show what that does.

    Nothing is executed. Interrupted, it goes on with the same --dir. Exit code: 0 shown, 3 nothing could be judged.
    """
    from pathlib import Path

    from otel_toolselect import reports
    from otel_toolselect.app.experiment import Asked, experiment
    from otel_toolselect.cli._output import say, wants_colour, width, write
    from otel_toolselect.cli._progress import progress
    from otel_toolselect.cli._stopping import stoppable
    from otel_toolselect.config import load
    from otel_toolselect.errors import EnvironmentProblem, TooFewError
    from otel_toolselect.suites.runner import Playing

    asked = Asked(
        path,
        Path(folder) if folder is not None else None,
        base_url,
        attempts,
        case or (),
        t.tags_of(tag),
        timeout,
        Playing(concurrency, retries, record="answer"),
        keep,
    )
    with stoppable() as stop:
        tried = experiment(asked, load({"store": store}), stop=stop, tell=say, progress=progress)
    say(f"kept in {tried.folder}")
    found = tried.found
    if found is None:
        say(f"{tried.left} attempts of this setting are left; go on with --dir {tried.folder}")
        if tried.cause == "faults":
            raise EnvironmentProblem("the model does not answer")
        raise typer.Exit(_STOPPED)
    if form == "table":
        text = reports.experiment_table(found, colour=wants_colour(output), width=width(output))
    else:
        writers = {
            "json": reports.experiment_json,
            "markdown": reports.experiment_markdown,
            "html": reports.experiment_html,
            "svg": reports.experiment_svg,
        }
        text = writers[form](found)
    write([text], output)
    if not any(one.accuracy.n for one in found.arms):
        raise TooFewError("no run could be judged; see --format json for why")
