"""`toolselect confusion`: expected against observed, over a report or a window of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option
from otel_toolselect.cli._reports_in import Asked, Label, MaybeReport, SuiteName, refuse_alone, refuse_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_toolselect.model.verdicts import RunVerdict


def register(app: typer.Typer) -> None:
    app.command(
        "confusion",
        epilog=examples(
            "toolselect confusion report.json",
            "toolselect confusion --suite support-agent --since 7d           verdicts that the store keeps",
            "toolselect confusion --suite support-agent --trend day --zone Europe/Berlin",
            "toolselect confusion report.json --trend label --format json",
            "toolselect confusion --window 1h --since 24h --by agent           production, by the hour",
            "toolselect confusion --window 1d --since 30d --zone Europe/Berlin --policy guard",
        ),
    )(command)


def command(
    report: MaybeReport = None,
    suite: SuiteName = None,
    label: Label = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    trend: Annotated[
        str | None, typer.Option("--trend", metavar="label|day", help="Also the recall per tool, by label or by day.")
    ] = None,
    zone: Annotated[str, typer.Option("--zone", help="Time zone in which days are cut.")] = "UTC",
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="SIZE",
            help="Over windows of event time instead, from the decisions in the store: 5m, 1h, 1d, 1w. "
            "--since is 24 windows ago then, unless given.",
        ),
    ] = None,
    slide: Annotated[
        str | None, typer.Option("--slide", metavar="STEP", help="Windows that overlap begin so far apart.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", metavar="NAME", help="With --window: of this rule file, or FILE/RULE; may be repeated."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="NAME", help="With --window: apart by agent, service, model, ...; may be repeated."
        ),
    ] = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Show the confusion matrix with pairs, per-tool figures, averages and the view by risk.

    Exit code: 0 shown, 3 nothing was judged.
    """
    if window is not None:
        from otel_toolselect.app.windows import Cut
        from otel_toolselect.cli._windowed import show

        refuse_together("--window", **{"a report file": report, "--label": label, "--trend": trend})
        show(Cut(window, slide, zone, since, until, suite, policy, by), store, form, output)
        return
    refuse_alone("--window", **{"--slide": slide, "--policy": policy, "--by": by})
    _show_stored(Asked(report, suite, store, since, until, label=label), trend, zone, form, output)


def _show_stored(asked: Asked, trend: str | None, zone: str, form: str, output: str | None) -> None:
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.errors import TooFewError
    from otel_toolselect.stats import trend as points_of

    name = None if trend is None else _naming(trend, zone)
    found = asked.stored()
    points = () if name is None else points_of(found.runs, name)
    if form == "json":
        write([reports.confusion_json(found, points)], output)
    else:
        write([reports.confusion_table(found, points, colour=wants_colour(output), width=width(output))], output)
    if not found.summary.judged:
        raise TooFewError("no run was judged: all were excluded")


def _naming(trend: str, zone: str) -> Callable[[RunVerdict], str]:
    from zoneinfo import ZoneInfo

    from otel_toolselect.errors import UsageError
    from otel_toolselect.stats.trend import by_day, by_label

    if trend == "label":
        return by_label
    if trend != "day":
        raise UsageError(f"--trend {trend!r} is neither label nor day")
    try:
        return by_day(ZoneInfo(zone))
    except (KeyError, OSError, ValueError) as error:  # unknown, or no zone data on this system
        raise UsageError(f"{zone!r} is no time zone known here; write UTC or Europe/Berlin") from error
