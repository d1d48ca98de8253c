"""`toolselect monitor notify-test`: one message through the configured notifiers."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, examples, format_option

UNREACHED = 4


def register(monitor: typer.Typer) -> None:
    monitor.command(
        "notify-test",
        epilog=examples(
            "toolselect monitor notify-test                        to every [[monitor.notify]] of toolselect.toml",
            "toolselect monitor notify-test on-call",
        ),
    )(command)


def command(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", show_default=False, help="Only the target of this name.")
    ] = "",
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Send one test message to each receiver of notifications, whatever it is routed, and say what came back.

    Exit code: 0 all of them took it, 2 a target is set up wrongly, 4 one could not be reached or refused it.
    """
    import json

    from otel_toolselect.app.notifying import send_tests
    from otel_toolselect.cli._output import write
    from otel_toolselect.config import load

    tried = send_tests(load().monitor, name)
    if form == "json":
        rows = [
            {"name": t.name, "type": t.type, "arrived": t.arrived, "seconds": round(t.seconds, 3), "said": t.said,
             "retryable": t.retryable}
            for t in tried
        ]  # fmt: skip
        text = json.dumps(rows, indent=2) + "\n"
    else:
        width = max(len(t.name) for t in tried)
        text = "".join(
            f"{t.name:{width}}  {t.type}: {t.said or 'taken'} ({t.seconds:.2f} s)"
            f"{'; trying again may help' if t.retryable else ''}\n"
            for t in tried
        )
    write([text], output)
    if not all(t.arrived for t in tried):
        raise typer.Exit(UNREACHED)
