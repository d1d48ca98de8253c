"""`toolselect replay`: trace files into the store, as if they had just arrived."""

from __future__ import annotations

import typer

from otel_toolselect.cli._options import Paths, Store, examples


def register(app: typer.Typer) -> None:
    app.command(
        "replay",
        epilog=examples(
            "toolselect replay traces.jsonl logs.jsonl",
            "toolselect replay captured/ --store clickhouse://localhost",
            "toolselect replay traces.jsonl && toolselect eval --suite suite.yaml",
        ),
    )(command)


def command(paths: Paths, store: Store = None) -> None:
    """Send trace files into the store; sending one again changes nothing.

    While `toolselect serve` holds the store, the files go through it.
    """
    from otel_toolselect import app
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    settings = load({"store": store})
    with opened(settings.dsn) as held:
        done = app.replay(paths, held, settings=settings, warn=say)
        print(f"{done.spans} spans and {done.logs} log records are in {held.dsn}")
