"""`toolselect promote RUN`: a production run becomes test cases."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples
from otel_toolselect.cli._source import MaybePaths, Service


def register(app: typer.Typer) -> None:
    app.command(
        "promote",
        epilog=examples(
            "toolselect promote 3f2a9c --first refund_order -o drafts/refund.yaml",
            "toolselect promote 3f2a9c --suite suite.yaml             expectation and policy of its case",
            "toolselect promote 3f2a9c traces.jsonl --first ask_followup",
            "toolselect promote 3f2a9c                               what people have labelled as right",
        ),
    )(command)


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Beginning of a run id or trace id.")],
    paths: MaybePaths = None,
    first: Annotated[
        list[str] | None, typer.Option("--first", metavar="NAME", help="What would have been right; may be repeated.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", "-s", metavar="FILE", help="Policy, and the case's own expectation.")
    ] = None,
    risk: Annotated[str | None, typer.Option("--risk", help="Risk of the drafted cases.")] = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    output: Output = None,
) -> None:
    """Draft two cases from a run: the minimal reproducer (challenge set) and a generalized variant (core set).

    Without --first, what people say who labelled the run (`toolselect label`) is expected, else what its case expects.
    Personal data is replaced by shape; read the draft before you commit it.
    """
    from otel_toolselect.cli._output import say, write
    from otel_toolselect.cli._source import Source
    from otel_toolselect.rules import load_suite, parse_suite
    from otel_toolselect.triage.promoting import promote
    from otel_toolselect.triage.selecting import one_run

    expectations = load_suite(suite) if suite is not None else None
    found = one_run(Source(paths or [], store, since, until, service).runs(), run)
    expected = first or (() if paths else _labelled(store, found.run_id))
    draft = promote(found, suite=expectations, expected=expected, risk=risk)
    parse_suite(draft.text, path=output or "the draft")  # a draft that does not load is worth nothing
    write([draft.text], output)
    for note in draft.notes:
        say(note)


def _labelled(store: str | None, run_id: str) -> tuple[str, ...]:
    """What people expect of a stored run; () when nobody has labelled it, or only as wrong."""
    from otel_toolselect.app.labels import consensus_of
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    with opened(load({"store": store}).dsn, create=False) as held:
        label = consensus_of(held, run_id)
    if label is None or not label.expected:
        return ()
    say(f"expected as labelled by {label.labeller}: {', '.join(label.expected)}")
    return label.expected
