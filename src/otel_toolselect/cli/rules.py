"""`toolselect rules`: check, test and apply suites and rule files; print their JSON Schema."""

from __future__ import annotations

from typing import Annotated

import typer

from otel_toolselect.cli._options import Output, Paths, examples, format_option

BAD_INPUT = 2
FAILED = 1
_Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", show_default=False, help="YAML files, or folders that are searched for them."),
]


def register(app: typer.Typer) -> None:
    rules = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=DESCRIPTION)
    rules.command("check", epilog=_CHECK)(check)
    rules.command("test", epilog=_TEST)(run_tests)
    rules.command("judge", epilog=_JUDGE)(judge)
    rules.command("schema", epilog=_SCHEMA)(schema)
    app.add_typer(rules, name="rules")


DESCRIPTION = """Check, test and apply suites and rule files.

\b
Examples:
  toolselect rules check suite.yaml rules/             every mistake, with its place and a way out
  toolselect rules test rules/ --run refund            unit tests of rules
  toolselect rules judge traces.jsonl --rules safety.yaml
  toolselect rules schema > toolselect.schema.json     for editors that complete and check YAML
"""
_CHECK = examples(
    "toolselect rules check suite.yaml",
    "toolselect rules check rules/ --format json | jq '.files[].problems[]'",
)
_TEST = examples(
    "toolselect rules test rules/safety.test.yaml",
    "toolselect rules test rules/ --run 'refund|cancel'",
    "toolselect rules test rules/ -o report.xml            JUnit XML, by the ending",
)
_JUDGE = examples(
    "toolselect rules judge traces.jsonl --rules safety.yaml",
    "toolselect rules judge captured/ --rules safety.yaml --format json -o rulings.json",
)
_SCHEMA = examples(
    "toolselect rules schema -o toolselect.schema.json",
    "# then, as the first line of a suite:",
    "# yaml-language-server: $schema=toolselect.schema.json",
)


def check(
    files: _Files,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Read suites, rule files and test files, and list every mistake with file, line, column and a way out.

    Exit code: 0 all files are fine, 2 some are not.
    """
    from otel_toolselect import reports
    from otel_toolselect.app import rulefiles
    from otel_toolselect.cli._output import say, write

    found = rulefiles.check_files(files)
    write([reports.checked_json(found) if form == "json" else reports.checked_table(found)], output)
    wrong = sum(len(file.problems) for file in found)
    if wrong:
        bad = sum(bool(file.problems) for file in found)
        say(f"{wrong} problem{'s' * (wrong > 1)} in {bad} of {len(found)} file{'s' * (len(found) > 1)}")
        raise typer.Exit(BAD_INPUT)


def run_tests(
    files: _Files,
    run: Annotated[
        str, typer.Option("--run", metavar="PATTERN", show_default=False, help="Only tests whose name this RE2 finds.")
    ] = "",
    form: Annotated[str, format_option("table", "json", "junit")] = "table",
    output: Output = None,
) -> None:
    """Carry out test files of rules: given events or spans, expected verdicts.

    What came out otherwise is shown as a diff. `-o FILE.xml` without --format writes JUnit XML.
    Exit code: 0 all tests passed, 1 some failed, 2 a file has mistakes.
    """
    from otel_toolselect import reports
    from otel_toolselect.app import rulefiles
    from otel_toolselect.cli._output import say, wants_colour, width, write

    outcomes = rulefiles.rehearse_files(files, pick=run)
    if form == "table" and output is not None and output.endswith(".xml"):
        form = "junit"
    if form == "table":
        text = reports.outcomes_table(outcomes, colour=wants_colour(output), width=width(output))
    else:
        text = (reports.outcomes_json if form == "json" else reports.outcomes_junit)(outcomes)
    write([text], output)
    failed = sum(not outcome.passed for outcome in outcomes)
    if failed:
        if form != "table" or output is not None:
            say(f"{failed} of {len(outcomes)} tests failed")
        raise typer.Exit(FAILED)


def judge(
    paths: Paths,
    rules: Annotated[
        str, typer.Option("--rules", "-r", metavar="FILE", show_default=False, help="The rules file (`rules: NAME`).")
    ],
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Judge the runs in trace files under a rules file: unlabelled traffic, every rule that matches a run.

    Exit code: 0 no rule is broken, 1 some are, 3 no run is any rule's business.
    """
    from otel_toolselect import reports
    from otel_toolselect.app import rulefiles
    from otel_toolselect.cli._output import say, wants_colour, width, write
    from otel_toolselect.errors import TooFewError

    found = rulefiles.apply_rules(paths, rules, warn=say)
    if form == "json":
        text = reports.rulings_json(found)
    else:
        text = reports.rulings_table(found, colour=wants_colour(output), width=width(output))
    write([text], output)
    if not found.rulings:
        raise TooFewError(f"none of the {found.runs} runs is the business of a rule in {rules}; see `match` there")
    if any(ruling.status == "fail" for ruling in found.rulings):
        raise typer.Exit(FAILED)


def schema(output: Output = None) -> None:
    """Print the JSON Schema of suites, rule files and test files, for editors.

    It is made from the checks and matchers that are installed, plug-ins included.
    """
    import json

    from otel_toolselect.cli._output import write
    from otel_toolselect.rules.jsonschema import schema as made

    write([json.dumps(made(), indent=2, ensure_ascii=False) + "\n"], output)
