"""Options that several commands share, so that they are spelled and explained once."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

Paths: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        show_default=False,
        help="Trace files (OTLP/JSON or protobuf, JSON lines, Tempo, Jaeger; plain, gzip or zstd), folders, "
        "or - for standard input.",
    ),
]
Store: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DSN",
        envvar="TOOLSELECT_STORE",
        show_envvar=True,
        help="Where spans are kept: chdb:///folder (embedded), clickhouse://host or clickhouses://host. "
        "Default: embedded, in your data folder.",
    ),
]
Suite: TypeAlias = Annotated[
    str,
    typer.Option("--suite", "-s", metavar="FILE", show_default=False, help="Expectations: .yaml, .jsonl or .json."),
]
Output: TypeAlias = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the result to this file, not to stdout.")
]
Since: TypeAlias = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only from here on: 30m, 24h, 7d, or 2026-01-31T12:00:00Z."),
]
Until: TypeAlias = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only before this time; same forms as --since.")
]


def format_option(*names: str) -> Any:
    """`--format` with these choices; a wrong one is bad usage and names them."""
    listed = ", ".join(names)

    def check(value: str) -> str:
        if value not in names:
            raise typer.BadParameter(f"{value!r} is not one of {listed}")
        return value

    return typer.Option("--format", "-f", metavar="|".join(names), callback=check, help="Form of the result.")


def report_format() -> Any:
    """`--format` with the report formats that are installed."""
    from otel_toolselect.reports import writers

    names = list(writers())
    return format_option(*sorted(names, key=lambda n: (n != "table", n)))


def examples(*lines: str) -> str:
    """The epilog of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
