"""`toolselect suite`: bring suites in from other tools, take them out, and look after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from otel_toolselect.cli._options import Output, examples, format_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_toolselect.suites.exporting import Exporter
    from otel_toolselect.suites.importing import Importer
    from otel_toolselect.suites.lint import Linted

FAILED = 1
_IMPORT = "toolselect suite import bfcl cases.jsonl.gz -o suite.yaml"
_TRANSCRIPTS = "toolselect suite transcripts chats.jsonl -o traces.jsonl && toolselect score traces.jsonl -s suite.yaml"
_SHOWN = 5  # cases named per advice


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Import, export and lint suites; transcripts as traces.",
        rich_markup_mode=None,
        epilog=examples(
            _IMPORT,
            "toolselect suite lint suite.yaml",
            _TRANSCRIPTS,
            "toolselect suite export promptfoo suite.yaml -o promptfooconfig.yaml",
        ),
    )
    group.command("import", cls=_Import, epilog=examples(_IMPORT))(import_)
    group.command("export", cls=_Export, epilog=examples("toolselect suite export tiny suite.yaml"))(export)
    group.command("lint", epilog=examples("toolselect suite lint suite.yaml --format json | jq .advice"))(lint)
    group.command("transcripts", epilog=examples(_TRANSCRIPTS))(transcripts)
    app.add_typer(group, name="suite")


class _Import(TyperCommand):
    """Its help lists the kinds, from the registry, and only when that help is asked for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from otel_toolselect.suites.importing import importers

        _list_kinds(importers(), formatter)
        super().format_epilog(ctx, formatter)


class _Export(TyperCommand):
    """The same for exporters."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from otel_toolselect.suites.exporting import exporters

        _list_kinds(exporters(), formatter)
        super().format_epilog(ctx, formatter)


def _list_kinds(plugins: Mapping[str, Importer] | Mapping[str, Exporter], formatter: Any) -> None:
    with formatter.section("Kinds"):
        formatter.write_dl([(name, plugin.about) for name, plugin in plugins.items()])


Kind = Annotated[str, typer.Argument(metavar="KIND", show_default=False, help="The other format; see below.")]
SuiteFile = Annotated[str, typer.Argument(metavar="SUITE", show_default=False, help="A suite: .yaml, .jsonl or .json.")]


def import_(
    kind: Kind,
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="The file; plain, gzip or zstd.")],
    output: Output = None,
) -> None:
    """Write another tool's cases as a suite.

    What cannot be carried over is said on stderr, case by case.
    """
    from otel_toolselect.cli._output import say, write
    from otel_toolselect.cli._progress import counter
    from otel_toolselect.suites import read_suite, render

    with counter(f"reading {path}") as step:
        found = read_suite(kind, path, step=step)
    for note in found.notes:
        say(note)
    write(render(found), output)
    say(f"{len(found.cases)} cases of {found.suite}" + (f" in {output}" if output else ""))


def export(kind: Kind, suite: SuiteFile, output: Output = None) -> None:
    """Write a suite in another tool's format.

    Expectations that the format cannot hold are said on stderr, case by case.
    """
    from otel_toolselect.cli._output import say, write
    from otel_toolselect.suites import export_suite

    text, notes = export_suite(kind, suite)
    for note in notes:
        say(note)
    write([text], output)


def transcripts(
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="JSON lines or a list; also gzip.")],
    output: Output = None,
) -> None:
    """Write message transcripts of OpenAI or Anthropic as traces, which every other command reads.

    Times in the traces are made up: a transcript has none.
    """
    from otel_toolselect.cli._output import write
    from otel_toolselect.suites.importing import open_source
    from otel_toolselect.suites.transcripts import traces

    write(traces(open_source(path)), output)


def lint(
    suite: SuiteFile, form: Annotated[str, format_option("table", "json")] = "table", output: Output = None
) -> None:
    """Say what a suite lacks to notice a regression: size, near-misses, edges, coverage, agreement of labellers.

    Exit code: 0 nothing to mend, 1 warnings.
    """
    import json

    from otel_toolselect.cli._output import write
    from otel_toolselect.rules import load_suite
    from otel_toolselect.suites.lint import lint as look

    found = look(load_suite(suite))
    text = json.dumps(found.plain(), indent=2, ensure_ascii=False) + "\n" if form == "json" else _table(found)
    write([text], output)
    if found.warned:
        raise typer.Exit(FAILED)


def _table(found: Linted) -> str:
    lines = [f"{found.suite}: {found.cases} cases"]
    for advice in found.advice:
        more = f" and {len(advice.cases) - _SHOWN} more" if len(advice.cases) > _SHOWN else ""
        named = f" ({', '.join(advice.cases[:_SHOWN])}{more})" if advice.cases else ""
        lines.append(f"  {advice.level:8} {advice.rule:10} {advice.message}{named}")
    lines.append("coverage")
    for axis, values in found.coverage.items():
        lines.append(f"  {axis:15} " + ", ".join(f"{value} {n}" for value, n in values.items()))
    return "\n".join(lines) + "\n"
