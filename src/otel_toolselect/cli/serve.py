"""`toolselect serve`: receive spans and keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Store, examples, format_option

if TYPE_CHECKING:
    import threading

    from otel_toolselect.app.serving import Serving


def register(app: typer.Typer) -> None:
    app.command(
        "serve",
        epilog=examples(
            "toolselect serve",
            "toolselect serve --store clickhouse://localhost",
            "toolselect serve --grpc-port 0 --http-port 0 --format json     free ports, told as JSON",
            "TOOLSELECT_TOKEN=... toolselect serve --host 0.0.0.0           senders must present the token",
        ),
    )(command)


def command(
    store: Store = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on. Default: 127.0.0.1.")] = None,
    grpc_port: Annotated[int | None, typer.Option("--grpc-port", help="Default: 4317; 0 takes a free one.")] = None,
    http_port: Annotated[int | None, typer.Option("--http-port", help="Default: 4318; 0 takes a free one.")] = None,
    spool: Annotated[
        str | None,
        typer.Option("--spool", metavar="FOLDER", help="Where requests are kept first. Default: by the store."),
    ] = None,
    form: Annotated[str, format_option("table", "json")] = "table",
) -> None:
    """Receive OTLP traces and logs over gRPC and HTTP until stopped, and keep them in the store.

    What is acknowledged is on disk. While this runs, other commands reach an embedded store through it. SIGTERM and
    Ctrl-C stop it gracefully: the ports close, everything acknowledged is stored. An address other than loopback needs
    a token, in TOOLSELECT_TOKEN or the configuration file.
    """
    from otel_toolselect.app.serving import serving
    from otel_toolselect.cli._output import say
    from otel_toolselect.config import load
    from otel_toolselect.telemetry import logs
    from otel_toolselect.web.lending import lend

    flags = {"store": store, "host": host, "grpc_port": grpc_port, "http_port": http_port, "spool": spool}
    settings = load(flags)
    logs.configure(settings.telemetry.log_format, settings.telemetry.log_level)
    stop = _stopped_by_signals()
    with serving(settings, lend) as running:
        _announce(running, form)
        stop.wait()
        say("stopping: closing the ports, storing what was acknowledged")
    say("stopped")


def _stopped_by_signals() -> threading.Event:
    """Set by SIGTERM or SIGINT, from the first moment on; a second signal ends the process at once."""
    import signal
    import threading

    stop = threading.Event()

    def on_signal(number: int, frame: object) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop


def _announce(running: Serving, form: str) -> None:
    facts = {"grpc": running.grpc, "http": running.http, "store": running.store.dsn, "spool": str(running.spool)}
    if form == "json":
        import json

        print(json.dumps(facts), flush=True)
        return
    print(f"OTLP over gRPC  {facts['grpc']}")
    print(f"OTLP over HTTP  {facts['http']}/v1/traces, /v1/logs")
    print(f"kept in         {facts['store']}")
    print("point your agent at it: OTEL_EXPORTER_OTLP_ENDPOINT=http://" + facts["grpc"], flush=True)
