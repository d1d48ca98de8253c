"""`toolselect gate`: may this candidate replace what was accepted?"""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option
from otel_toolselect.cli._reports_in import Asked, Label, MaybeReport, MaybeSuite, Service

FAILED = 1


def register(app: typer.Typer) -> None:
    app.command(
        "gate",
        epilog=examples(
            "toolselect gate report.json --baseline baseline.yaml",
            "toolselect gate report.json --baseline baseline.yaml --policy gate.yaml --format markdown",
            "toolselect gate --suite suite.yaml --label candidate --baseline baseline.yaml    from the store",
            "toolselect gate --conditions                                    every condition and its options",
        ),
    )(command)


def command(
    report: MaybeReport = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", "-b", metavar="FILE", help="What `toolselect baseline accept` wrote.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", "-p", metavar="FILE", help="Which conditions are on, with their limits.")
    ] = None,
    suite: MaybeSuite = None,
    label: Label = None,
    store: Store = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    listing: Annotated[bool, typer.Option("--conditions", help="List all conditions with their options.")] = False,
    form: Annotated[str, format_option("table", "json", "markdown")] = "table",
    output: Output = None,
) -> None:
    """Hold a candidate against a baseline, on identical cases, condition by condition.

    Exit code: 0 every condition passed, 1 one failed, 3 none failed but one is inconclusive (too few observations).
    """
    from otel_toolselect import gates, reports
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.errors import TooFewError, UsageError

    if listing:
        write([_listing()], output)
        return
    if baseline is None:
        raise UsageError("give --baseline FILE; `toolselect baseline accept` makes one")
    limits = gates.load_policy(policy)
    accepted = gates.load_baseline(baseline)
    candidate = Asked(report, suite, store, since, until, service, label).judged()
    result = gates.check(candidate, accepted, limits)
    if form == "table":
        write([reports.gate_table(result, colour=wants_colour(output), width=width(output))], output)
    else:
        write([reports.gate_json(result) if form == "json" else reports.gate_markdown(result)], output)
    if result.outcome == "fail":
        raise typer.Exit(FAILED)
    if result.outcome != "pass":
        names = ", ".join(c.condition for c in result.conditions if c.outcome == "inconclusive")
        raise TooFewError(f"the gate is inconclusive: {names or 'no condition applies'}; see why above")


def _listing() -> str:
    from otel_toolselect.gates.policy import described

    lines = []
    for name, said, on, options in described():
        lines.append(f"{name} ({'on' if on else 'off'} by default): fails when {said}")
        lines += [f"  {key}: {_default(option.default)}    {option.help}" for key, option in options.items()]
    return "\n".join(lines).replace("fails when never fails:", "never fails:") + "\n"


def _default(value: object) -> str:
    return "not set" if value is None or value in ((), {}) else str(value)
