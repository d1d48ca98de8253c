"""`toolselect serve`: receive spans and keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Store, examples, format_option

if TYPE_CHECKING:
    from otel_toolselect.app.serving import Serving


def register(app: typer.Typer) -> None:
    app.command(
        "serve",
        epilog=examples(
            "toolselect serve",
            "toolselect serve --store clickhouse://localhost",
            "toolselect serve --suite suite.yaml --rules policies.yaml     judge runs as they arrive",
            "toolselect serve --grpc-port 0 --http-port 0 --format json     free ports, told as JSON",
            "toolselect serve --host 0.0.0.0 --tokens tokens.toml --tls-cert tls.crt --tls-key tls.key",
            "TOOLSELECT_TOKEN=... toolselect serve --host 0.0.0.0 --allow-plaintext     behind a proxy that ends TLS",
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
    suites: Annotated[
        list[str] | None,
        typer.Option("--suite", metavar="FILE", help="Judge what arrives against this suite; may be repeated."),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--rules", metavar="FILE", help="Judge what arrives under this rule file; may be repeated."),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option("--tokens", metavar="FILE", help="Who may send, and look: [[token]] tables (TOML)."),
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate of both ports (PEM).")
    ] = None,
    tls_key: Annotated[str | None, typer.Option("--tls-key", metavar="FILE", help="Its key (PEM).")] = None,
    tls_client_ca: Annotated[
        str | None,
        typer.Option("--tls-client-ca", metavar="FILE", help="Senders must show a certificate that it signed (PEM)."),
    ] = None,
    allow_unauthenticated: Annotated[
        bool, typer.Option("--allow-unauthenticated", help="Anybody may send, from other machines too.")
    ] = False,
    allow_plaintext: Annotated[
        bool, typer.Option("--allow-plaintext", help="Take tokens without TLS, from other machines too.")
    ] = False,
    form: Annotated[str, format_option("table", "json")] = "table",
) -> None:
    """Receive OTLP traces and logs over gRPC and HTTP until stopped, and keep them in the store.

    Pages in a browser, on the HTTP port, show what is there. What is acknowledged is on disk. While this runs, other
    commands reach an embedded store through it. SIGTERM and Ctrl-C stop it gracefully: the ports close, everything
    acknowledged is stored. An address other than loopback needs TLS and tokens or client certificates. Tokens and
    certificates are read again when their files change.
    """
    import logging

    from otel_toolselect.cli._process import keep_house, without_data_frames, without_lines_of_grpc

    without_lines_of_grpc()
    from otel_toolselect.app.serving import serving
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._stopping import stopped_by_signals
    from otel_toolselect.config import load
    from otel_toolselect.rpc.service import services
    from otel_toolselect.telemetry import logs
    from otel_toolselect.web.lending import lend
    from otel_toolselect.web.mounting import pages

    flags = {
        "store": store,
        "host": host,
        "grpc_port": grpc_port,
        "http_port": http_port,
        "spool": spool,
        "live_suites": suites,
        "live_rules": rules,
        "tokens": tokens,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "tls_client_ca": tls_client_ca,
        "allow_unauthenticated": allow_unauthenticated or None,
        "allow_plaintext": allow_plaintext or None,
    }
    settings = load(flags)
    logs.configure(settings.telemetry.log_format, settings.telemetry.log_level)
    # what reads JSON lines finds nothing else on stderr
    tell = logging.getLogger(__package__).info if settings.telemetry.log_format == "json" else say
    stop = stopped_by_signals()
    keep_house()
    without_data_frames()
    with serving(settings, lend, pages, services) as running:
        _announce(running, form)
        stop.wait()
        tell("stopping: closing the ports, storing what was acknowledged")
    tell("stopped")


def _announce(running: Serving, form: str) -> None:
    facts = {"grpc": running.grpc, "http": running.http, "store": running.store.dsn, "spool": str(running.spool)}
    facts |= {"pages": running.pages} if running.pages else {}
    if form == "json":
        import json

        print(json.dumps(facts), flush=True)
        return
    print(f"OTLP over gRPC  {facts['grpc']}")
    print(f"OTLP over HTTP  {facts['http']}/v1/traces, /v1/logs")
    print(f"kept in         {facts['store']}")
    print(f"point your agent at it: OTEL_EXPORTER_OTLP_ENDPOINT={running.scheme}://{facts['grpc']}", flush=True)
    if running.pages:
        print(f"look at it:     {running.pages}", flush=True)
