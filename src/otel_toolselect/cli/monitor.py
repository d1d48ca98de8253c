"""`toolselect monitor`: watch production with alerts, ask what they saw and told, try them on history, test them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from otel_toolselect.cli import _judging, _notifying, _silences
from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_toolselect.config import Settings
    from otel_toolselect.model.alerting import Notification
    from otel_toolselect.store.alert_api import Outcome

FAILED = 1
DEFAULT_SINCE = "7d"


def register(app: typer.Typer) -> None:
    monitor = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=DESCRIPTION)
    monitor.command("run", epilog=_RUN)(run)
    monitor.command("status", epilog=_STATUS)(status)
    monitor.command("history", epilog=_HISTORY)(history)
    monitor.command("backtest", epilog=_BACKTEST)(backtest)
    monitor.command("test", epilog=_TEST)(run_tests)
    _judging.register(monitor)
    _silences.register(monitor)
    _notifying.register(monitor)
    app.add_typer(monitor, name="monitor")


DESCRIPTION = """Watch production traffic: alerts on what agents choose, and tests of these alerts.

\b
Examples:
  toolselect monitor judge --from clickhouse://ch/otel --suite suite.yaml     judge what a Collector stores
  toolselect monitor run support.alerts.yaml           evaluate and notify until stopped
  toolselect monitor status                            where every alert stands
  toolselect monitor backtest new.alerts.yaml          what would have fired in the last week
  toolselect monitor silence add --match owner=ann --for 2h --by ann
  toolselect monitor test support.alerts.test.yaml     would these alerts fire when they should?
  toolselect rules check support.alerts.yaml           every mistake of an alert file, with its place
"""
_RUN = examples(
    "toolselect monitor run support.alerts.yaml",
    "toolselect monitor run                                alerts and receivers of [monitor] in toolselect.toml",
    "toolselect monitor run --format json | jq .says       every notification as a JSON line",
)
_STATUS = examples("toolselect monitor status", "toolselect monitor status --format json")
_HISTORY = examples(
    "toolselect monitor history --since 24h",
    "toolselect monitor history --outcome dead             what no receiver took",
)
_BACKTEST = examples(
    "toolselect monitor backtest support.alerts.yaml --since 30d",
    "toolselect monitor backtest --rules policies.yaml --since 7d --zone Europe/Berlin",
)
_TEST = examples(
    "toolselect monitor test support.alerts.test.yaml",
    "toolselect monitor test alerts/ --run 'gap|late'",
    "toolselect monitor test alerts/ -o report.xml         JUnit XML, by the ending",
)
Alerts: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE...]", show_default=False, help="Alert files. Default: those of [monitor] in the settings."
    ),
]


def run(
    files: Alerts = None,
    store: Store = None,
    form: Annotated[str, format_option("table", "json")] = "table",
) -> None:
    """Evaluate alerts and send notifications, until stopped; each notification is shown, too.

    What was decided is kept in the store, so that a restart neither misses nor doubles anything. Of several monitors on
    one store one evaluates, and another takes over when it dies. `serve` does the same when [monitor] names alerts.
    """
    from otel_toolselect.app.monitoring import stay_watching
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._stopping import stopped_by_signals
    from otel_toolselect.telemetry import logs
    from otel_toolselect.web.lending import lend

    settings = _settings(store, files)
    logs.configure(settings.telemetry.log_format, settings.telemetry.log_level)
    stop = stopped_by_signals()
    show = _show_json if form == "json" else _show
    stay_watching(settings, stop, lend, on_news=show, tell=say)


def _show(notification: Notification) -> None:
    labels = ", ".join(f"{name}={value}" for name, value in notification.series)
    held = f" (held back by silence {notification.silenced_by})" if notification.silenced_by else ""
    named = f"{notification.alert} ({labels})" if labels else notification.alert
    print(f"{notification.kind}: {named}: {notification.says}{held}", flush=True)


def _show_json(notification: Notification) -> None:
    from otel_toolselect.monitor.alerts import notification_text

    print(notification_text(notification), flush=True)


def status(
    files: Alerts = None,
    store: Store = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Where every series of every alert stands: state, since when, the value of its last window with its n.

    Alerts of the files that were not evaluated yet are `new`.
    """
    from otel_toolselect import reports
    from otel_toolselect.app import monitoring
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._store import opened

    settings = _settings(store, files)
    with opened(settings.dsn, create=False) as held:
        found = monitoring.statuses(held, settings.monitor.alerts)
    if form == "json":
        write([reports.statuses_json(found)], output)
    else:
        write([reports.statuses_table(found, colour=wants_colour(output), width=width(output))], output)


def history(
    store: Store = None,
    since: Since = None,
    until: Until = None,
    alert: Annotated[str | None, typer.Option("--alert", metavar="ID", help="Only of this alert.")] = None,
    outcome: Annotated[
        str | None,
        typer.Option("--outcome", metavar="WORD", help="Only delivered, dead, silenced or unrouted ones."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most so many.")] = 100,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """What was told, to whom, and what became of it, newest first. JSON: one line each, the notification in it.

    A dead one was refused for good, or tried for too long; an unrouted one was for no receiver.
    """
    from otel_toolselect import reports
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._store import opened

    wanted = _outcome(outcome)
    with opened(_settings(store, None).dsn, create=False) as held:
        found = held.alerts.sendings(
            since_ns=moment(since), until_ns=moment(until), alert=alert, outcome=wanted, limit=limit
        )
    if form == "json":
        write([reports.sendings_json(found)], output)
    else:
        write([reports.sendings_table(found, colour=wants_colour(output), width=width(output))], output)


def backtest(
    files: Alerts = None,
    store: Store = None,
    since: Since = DEFAULT_SINCE,
    until: Until = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--rules", metavar="FILE", help="Rule files: how often each would have failed, by day."),
    ] = None,
    zone: Annotated[str, typer.Option("--zone", metavar="NAME", help="Time zone of the days of --rules.")] = "UTC",
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Dry run over what is stored: which alerts would have fired, when and for how long. Nothing is stored or sent.

    Alerts are evaluated on the decisions in the store, rules are judged anew on the stored runs.
    """
    import time

    from otel_toolselect import reports
    from otel_toolselect.app import monitoring
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._store import opened
    from otel_toolselect.errors import UsageError

    settings = _settings(store, files)
    # rule files alone are a question about rules alone
    paths = () if rules and not files else settings.monitor.alerts
    if not paths and not rules:
        raise UsageError("nothing to try: name alert files, or rule files with --rules")
    begins, ends = moment(since) or 0, moment(until) or time.time_ns()
    if ends <= begins:
        raise UsageError("--until is not after --since")
    with opened(settings.dsn, create=False) as held:
        alerts = monitoring.backtest(held, settings.monitor, paths, begins, ends)
        days = monitoring.backtest_rules(held, rules or (), begins, ends, zone)
    if form == "json":
        write([reports.backtest_json(alerts, days, begins, ends)], output)
    else:
        write([reports.backtest_table(alerts, days, colour=wants_colour(output), width=width(output))], output)


def _settings(store: str | None, files: Sequence[str] | None) -> Settings:
    from otel_toolselect.config import load

    return load({"store": store, "monitor_alerts": list(files) if files else None})


def _outcome(word: str | None) -> Outcome | None:
    from otel_toolselect.store.alert_api import OUTCOMES

    found = next((known for known in OUTCOMES if known == word), None)
    if word is not None and found is None:
        raise typer.BadParameter(f"{word!r} is not one of {', '.join(OUTCOMES)}")
    return found


def run_tests(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", show_default=False, help="Test files of alerts, or folders that are searched for them."
        ),
    ],
    run: Annotated[
        str, typer.Option("--run", metavar="PATTERN", show_default=False, help="Only tests whose name this RE2 finds.")
    ] = "",
    form: Annotated[str, format_option("table", "json", "junit")] = "table",
    output: Output = None,
) -> None:
    """Carry out tests of alert files: given series under a simulated clock, expected states and notifications.

    What came out otherwise is shown as a diff. `-o FILE.xml` without --format writes JUnit XML.
    Exit code: 0 all tests passed, 1 some failed, 2 a file has mistakes.
    """
    from otel_toolselect import reports
    from otel_toolselect.app import alertfiles
    from otel_toolselect.cli._output import say, wants_colour, width, write

    outcomes = alertfiles.rehearse_alerts(files, pick=run)
    if form == "table" and output is not None and output.endswith(".xml"):
        form = "junit"
    if form == "table":
        text = reports.outcomes_table(outcomes, colour=wants_colour(output), width=width(output))
    else:
        text = (reports.outcomes_json if form == "json" else reports.outcomes_junit)(outcomes)
    write([text], output)
    failed = sum(not outcome.passed for outcome in outcomes)
    if failed:
        if form != "table" or output is not None:
            say(f"{failed} of {len(outcomes)} tests failed")
        raise typer.Exit(FAILED)
