"""The command line, thin: one file per command, found by scanning this package (design sections 2 and 8).

A command module defines `register(app)` and imports what it works with inside the command, so that `--help`
and small jobs start quickly: only the module of the command that was typed is loaded at all. Results go to
stdout, everything else to stderr. Exit codes: 0 fine, 1 judged and failed, 2 bad usage or input, 3 too few
observations, 4 environment.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from otel_toolselect import __version__
from otel_toolselect.errors import ToolselectError

DESCRIPTION = """Did the agent pick the right tool? Judges every tool decision in OpenTelemetry traces.

\b
Examples:
  toolselect demo                                      see it work, from spans to scorecard
  toolselect events traces.jsonl                       what the agent did, event by event
  toolselect score traces.jsonl --suite suite.yaml     judge a file against expectations
  toolselect serve                                     receive spans on 4317 and 4318
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script; always ends in SystemExit."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        build(args)(args=args, prog_name="toolselect")
        sys.stdout.flush()
    except ToolselectError as error:
        fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        fail("stopped", 130)


def build(args: Sequence[str]) -> typer.Typer:
    """The application with the commands that this command line can need: one if it names one, else all."""
    app = typer.Typer(
        name="toolselect",
        help=DESCRIPTION,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_globals)
    names = command_names()
    named = [args[0]] if args and args[0] in names else names
    for name in named:
        importlib.import_module(f"{__name__}.{name.replace('-', '_')}").register(app)
    return app


def command_names() -> list[str]:
    """Every public module of this package is a command; an underscore in its name is a dash on the command line."""
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def fail(message: str, code: int) -> None:
    """One clear message on stderr, and out. Several problems stand one a line, each where an editor can jump to it."""
    lines = message.splitlines()
    head = f"{len(lines)} problems:\n" if len(lines) > 1 else ""
    print(f"toolselect: {head}{message}", file=sys.stderr)
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"toolselect {__version__}")
        raise typer.Exit


def _globals(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass
