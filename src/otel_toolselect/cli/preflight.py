"""`toolselect preflight`: do the offered tools answer, as their contracts say, and are they what was pinned?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Output, examples, format_option

if TYPE_CHECKING:
    from otel_toolselect.model.preflight import Preflight

FAILED = 1


def register(app: typer.Typer) -> None:
    app.command(
        "preflight",
        epilog=examples(
            "toolselect preflight tools.yaml",
            "toolselect preflight tools.yaml --pin                keep what is offered now, to compare with later",
            "toolselect preflight tools.yaml --format junit -o preflight.xml",
        ),
    )(command)


def command(
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="Servers and checks, in YAML.")],
    pin: Annotated[
        bool,
        typer.Option("--pin", help="Write what the servers offer now to the file that `pinned` names; call nothing."),
    ] = False,
    form: Annotated[str, format_option("table", "json", "junit")] = "table",
    output: Output = None,
) -> None:
    """Ask MCP servers and Python functions what they offer, and call tools as the checks say, without the agent.

    Found: tools that do not answer as their contract says, drift from the pinned catalog, ill-formed schemas, missing
    side-effect hints, names that two servers offer. Exit code: 0 no error (warnings are none), 1 errors, 4 a server is
    out of reach.
    """
    from otel_toolselect.app.preflight import preflight
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._progress import counter
    from otel_toolselect.errors import EnvironmentProblem

    if pin:
        _pin(path)
        return
    with counter("servers asked") as step:
        found = preflight(path, lambda name: step())
    write([_shown(found, form, wants_colour(output), width(output))], output)
    if found.failed:
        raise typer.Exit(FAILED)
    if found.unreachable:
        away = "; ".join(f"{offer.server}: {offer.failure}" for offer in found.unreachable)
        raise EnvironmentProblem(f"not every server could be asked: {away}")


def _pin(path: str) -> None:
    from otel_toolselect.app.preflight import pin
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._progress import counter

    with counter("servers asked") as step:
        written, offers = pin(path, lambda name: step())
    say(f"{written}: {sum(len(offer.tools) for offer in offers)} tools of {len(offers)} servers; commit it")


def _shown(found: Preflight, form: str, colour: bool, width: int) -> str:
    from otel_toolselect import reports

    if form == "json":
        return reports.preflight_json(found)
    if form == "junit":
        return reports.preflight_junit(found)
    return reports.preflight_table(found, colour=colour, width=width)
