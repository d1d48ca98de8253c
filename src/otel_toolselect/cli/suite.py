"""`toolselect suite`: bring suites in from other tools, take them out, and look after them."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, examples


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Import, export and lint suites.",
        rich_markup_mode=None,
        epilog=examples("toolselect suite import bfcl cases.jsonl.gz -o suite.yaml"),
    )
    group.command(
        "import",
        epilog=examples(
            "toolselect suite import bfcl cases.jsonl.gz -o suite.yaml",
            "toolselect suite import promptfoo promptfooconfig.yaml",
        ),
    )(import_)
    app.add_typer(group, name="suite")


def import_(
    kind: Annotated[str, typer.Argument(metavar="KIND", show_default=False, help="What the file is: see below.")],
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="The file; plain, gzip or zstd.")],
    output: Output = None,
) -> None:
    """Write another tool's cases as a suite.

    What cannot be carried over is said on stderr, case by case.
    """
    from otel_toolselect.cli._output import say, write
    from otel_toolselect.cli._progress import counter
    from otel_toolselect.suites import read_suite, render

    with counter(f"reading {path}") as step:
        found = read_suite(kind, path, step=step)
    for note in found.notes:
        say(note)
    write(render(found), output)
    say(f"{len(found.cases)} cases of {found.suite}" + (f" in {output}" if output else ""))
