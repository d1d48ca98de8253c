"""`toolselect monitor silence`: hold back notifications for a while."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Store, examples, format_option

_ADD = examples(
    "toolselect monitor silence add --match alert=wrong-tool --for 2h --by ann --comment 'rollout of v7'",
    "toolselect monitor silence add --match tool=/refund/ --match agent=billing --until 2026-12-01T06:00:00Z --by ann",
)
_LIST = examples("toolselect monitor silence list", "toolselect monitor silence list --format json")


def register(monitor: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Hold back notifications of some alerts for a while. Alerts change their state all the same.",
        epilog=_ADD,
    )
    group.command("add", epilog=_ADD)(add)
    group.command("list", epilog=_LIST)(list_)
    group.command("expire", epilog=examples("toolselect monitor silence expire 3f0c9a12"))(expire)
    monitor.add_typer(group, name="silence")


def add(
    match: Annotated[
        list[str],
        typer.Option(
            "--match",
            metavar="NAME=VALUE",
            show_default=False,
            help="A label that must fit: alert, signal, severity, owner, those of `by` and of the alert's labels; "
            "NAME=/RE2/ finds a pattern. All that are given must fit.",
        ),
    ],
    by: Annotated[str, typer.Option("--by", metavar="WHO", show_default=False, help="Who silences.")],
    length: Annotated[
        str | None, typer.Option("--for", metavar="LENGTH", show_default=False, help="How long: 30m, 2h, 1d.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", show_default=False, help="Or until when.")
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", show_default=False, help="From when on. Default: now.")
    ] = None,
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why.")] = "",
    store: Store = None,
) -> None:
    """Hold back notifications of alerts whose labels fit. When it ends, receivers hear of what is then the case.

    Prints the id of the silence.
    """
    import time

    from otel_toolselect.app import monitoring
    from otel_toolselect.app.times import length as lasting
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load
    from otel_toolselect.errors import UsageError

    if (length is None) == (until is None):
        raise UsageError("say how long with --for 2h, or until when with --until 2026-12-01T06:00:00Z")
    begins = moment(begin) or time.time_ns()
    ends = begins + lasting(length) if length is not None else moment(until) or 0
    with opened(load({"store": store}).dsn) as held:
        made = monitoring.silence(held, match, begins, ends, by=by, comment=comment)
    print(made.id)


def list_(
    store: Store = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Show all silences: those to come, active and ended ones."""
    import time

    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    with opened(load({"store": store}).dsn, create=False) as held:
        found = held.alerts.silences()
    now = time.time_ns()
    if form == "json":
        write([reports.silences_json(found, now)], output)
    else:
        write([reports.silences_table(found, now, colour=wants_colour(output), width=width(output))], output)


def expire(
    name: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="See list.")],
    store: Store = None,
) -> None:
    """End a silence now."""
    import time

    from otel_toolselect.app import monitoring
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    with opened(load({"store": store}).dsn) as held:
        monitoring.expire(held, name, time.time_ns())
    print(f"{name} has ended")
