"""`toolselect baseline`: accept, show and compare what a gate holds candidates against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from otel_toolselect.cli._options import Since, Store, Until, examples
from otel_toolselect.cli._reports_in import Asked, Label, MaybeReport, MaybeSuite, Service

DESCRIPTION = """Accept, show and compare baselines: reviewable YAML in your repository, moved by two people.

\b
Examples:
  toolselect baseline accept report.json -o baseline.yaml --by ann --reviewer raj
  toolselect baseline diff baseline.yaml report.json         what accepting would change
  toolselect baseline show baseline.yaml
"""
_File = Annotated[str, typer.Argument(metavar="BASELINE.yaml", show_default=False, help="The baseline file.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=DESCRIPTION)
    accept_examples = examples(
        "toolselect baseline accept report.json -o baseline.yaml --by ann --reviewer raj",
        "toolselect baseline accept --suite suite.yaml --label main -o baseline.yaml --by ann --reviewer raj",
    )
    group.command("accept", epilog=accept_examples)(accept)
    group.command("show", epilog=examples("toolselect baseline show baseline.yaml"))(show)
    group.command("diff", epilog=examples("toolselect baseline diff baseline.yaml report.json"))(diff)
    app.add_typer(group, name="baseline")


def accept(
    report: MaybeReport = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The baseline file to write or replace.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who accepts it.")] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", metavar="NAME", help="Who else reviewed it: another person.")
    ] = None,
    on: Annotated[
        str | None, typer.Option("--at", metavar="DATE", help="The date to write; default today (UTC).")
    ] = None,
    suite: MaybeSuite = None,
    label: Label = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
) -> None:
    """Write a report as the new baseline, with the two people who stand for it, and show what that changes.

    Refused without a second reviewer, or when both are one person. The file is only replaced when all is well.
    """
    from datetime import UTC, datetime

    from otel_toolselect import gates
    from otel_toolselect.cli._output import say, write
    from otel_toolselect.errors import UsageError

    if output is None:
        raise UsageError("give -o FILE: where the baseline is to stand, in your repository")
    old = gates.load_baseline(output) if Path(output).exists() else None
    found = Asked(report, suite, store, since, until, service, label).judged()
    new = gates.accept(found, by=by, reviewer=reviewer, on=on or f"{datetime.now(UTC):%Y-%m-%d}")
    if old is not None and old.suite != new.suite:
        raise UsageError(f"{output} is the baseline of {old.suite!r}, the report is of {new.suite!r}")
    changes = gates.diff(old, new)
    write([gates.dump_baseline(new)], output)
    write(["\n".join(changes or ("nothing changes but who accepted it",)) + "\n"], None)
    say(f"{output}: accepted by {new.by}, reviewed by {new.reviewer}")


def show(baseline: _File) -> None:
    """Print a baseline's figures, after checking the file."""
    from otel_toolselect import gates
    from otel_toolselect.cli._output import write

    found = gates.load_baseline(baseline)
    write(["\n".join(gates.summary_lines(found)) + "\n"], None)


def diff(
    baseline: _File,
    other: Annotated[
        str, typer.Argument(metavar="OTHER", show_default=False, help="Another baseline (.yaml), or a report (.json).")
    ],
) -> None:
    """Print what the other one would change; lines that make the gate laxer say so."""
    from otel_toolselect import gates
    from otel_toolselect.cli._output import write
    from otel_toolselect.reports import read_report

    old = gates.load_baseline(baseline)
    if other.endswith((".yaml", ".yml")):
        new = gates.load_baseline(other)
    else:
        new = gates.accept(read_report(other), by=old.by, reviewer=old.reviewer, on=old.on)
    write(["\n".join(gates.diff(old, new) or ("no difference",)) + "\n"], None)
