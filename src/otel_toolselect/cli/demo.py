"""`toolselect demo`: the whole path on real spans, in a temporary folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli import _agent
from otel_toolselect.cli._options import examples

if TYPE_CHECKING:
    from otel_toolselect.app import Evaluated

EXAMPLE = "billing-support"
WORST = 3


def register(app: typer.Typer) -> None:
    app.command(
        "demo",
        epilog=examples(
            "toolselect demo",
            "toolselect demo --keep                    keep the store, to look at it with other commands",
            "toolselect demo --to 127.0.0.1:4317       only play the agent, to a receiver of yours",
        ),
    )(command)


def command(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the temporary store and say where it is.")] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="HOST:PORT", help="Send to this gRPC receiver; judge nothing.")
    ] = None,
) -> None:
    """Play a small instrumented agent over 80 labelled cases, receive its spans, judge them.

    The agent's model is scripted; the SDK, the exporter, the receiver and the embedded store are the real ones.
    """
    from otel_toolselect import app
    from otel_toolselect.rules import load_suite

    folder = app.example_folder(EXAMPLE)
    path = str(folder / "suite.yaml")
    suite = load_suite(path)
    script = _agent.Script.load(folder)
    requests = {case.id: case.prompt or "" for case in suite.cases}
    if to is not None:
        _play(script, suite.name, requests, to)
        return
    _whole_path(script, suite.name, requests, path, keep=keep)


def _whole_path(script: _agent.Script, suite: str, requests: Mapping[str, str], path: str, *, keep: bool) -> None:
    """Receiver up, agent played, spans judged through the store, receiver down, folder gone."""
    import shutil
    import tempfile
    from pathlib import Path

    from otel_toolselect import app
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._serving import served
    from otel_toolselect.cli._store import opened

    home = Path(tempfile.mkdtemp(prefix="toolselect-demo-"))
    dsn = f"chdb://{home / 'store'}"
    try:
        with served(dsn) as ports:
            say(f"receiving on {ports['grpc']} (gRPC) and {ports['http']} (HTTP), embedded store in {home}")
            _play(script, suite, requests, ports["grpc"])
            with opened(dsn) as store:
                done = app.evaluate(store, path)
        _show(done, dsn if keep else None, path)
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)


def _play(script: _agent.Script, suite: str, requests: Mapping[str, str], endpoint: str) -> None:
    from opentelemetry import trace

    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._progress import progress
    from otel_toolselect.errors import EnvironmentProblem

    sender = _agent.Sender(endpoint)
    provider = _agent.provider_with(sender.processor, service=suite)
    trace.set_tracer_provider(provider)
    with progress("agent runs", len(requests)) as advance:
        count = _agent.play(script, suite, requests, done=lambda case: advance())
    arrived = provider.force_flush(30_000)
    provider.shutdown()
    if sender.lost or not arrived:
        raise EnvironmentProblem(f"{endpoint} did not take all spans; is `toolselect serve` running there?")
    say(f"{count} agent runs sent over OTLP gRPC")


def _show(done: Evaluated, dsn: str | None, suite: str) -> None:
    from otel_toolselect import reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.reports.table import TableWriter

    colour, columns = wants_colour(None), width(None)
    text = TableWriter(worst=0).render(done.report, colour=colour, width=columns)
    traces = reports.traced_failures(done.report, done.runs, WORST, colour=colour, width=columns)
    write([text, "\n", traces, "\n", _next(dsn, suite)], None)


def _next(dsn: str | None, suite: str) -> str:
    kept = [f"  toolselect eval --store {dsn} --suite {suite}"] if dsn else []
    steps = [
        "  toolselect serve",
        "then point your agent at it, and ask what has arrived:",
        "  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317 python your_agent.py",
        "  toolselect doctor",
    ]
    head = (
        ["The demo's spans are kept; judge them again:", *kept, "or with your own agent:"] if kept else ["Next, type:"]
    )
    return "\n".join([*head, *steps]) + "\n"
