"""`toolselect monitor judge`: judge what arrives in a store that others fill."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Since, Store, examples


def register(monitor: typer.Typer) -> None:
    monitor.command(
        "judge",
        epilog=examples(
            "toolselect monitor judge --from clickhouse://reader@ch/otel --suite suite.yaml --rules policies.yaml",
            "toolselect monitor judge --from clickhouse://ch/otel --suite suite.yaml --since 30d --once",
            "toolselect monitor judge --store clickhouse://ch/toolselect --rules policies.yaml     as one of several",
        ),
    )(command)


def command(
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DSN",
            show_default=False,
            help="Where the spans are, only read: say the database of a Collector's ClickHouse exporter. "
            "Default: the store itself.",
        ),
    ] = None,
    store: Store = None,
    suites: Annotated[
        list[str] | None, typer.Option("--suite", metavar="FILE", help="Judge against this suite; may be repeated.")
    ] = None,
    rules: Annotated[
        list[str] | None, typer.Option("--rules", metavar="FILE", help="Judge under this rule file; may be repeated.")
    ] = None,
    since: Since = None,
    once: Annotated[bool, typer.Option("--once", help="End when everything that is there is judged.")] = False,
    metrics_port: Annotated[
        int | None, typer.Option("--metrics-port", show_default=False, help="Serve /metrics on this port of loopback.")
    ] = None,
) -> None:
    """Judge the traces that arrive in a store, until stopped; runs, verdicts and decisions are kept in --store.

    It goes on where it stopped, or was killed: --since only says where the first start begins (default: an hour ago,
    `live.lookback_seconds`). Several of these with the same files share the work; when one dies, the others take its
    share. Files are read again when they change. Nothing is written into the database of --from.
    """
    from otel_toolselect.app.following import stay_following
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._stopping import stopped_by_signals
    from otel_toolselect.config import load
    from otel_toolselect.telemetry import logs

    settings = load({"store": store, "live_suites": suites, "live_rules": rules})
    logs.configure(settings.telemetry.log_format, settings.telemetry.log_level)
    stay_following(
        settings,
        source,
        stopped_by_signals(),
        since_ns=moment(since),
        until_caught_up=once,
        metrics_port=metrics_port,
        tell=say,
    )
