"""`toolselect run`: play a suite against an agent or a model, and judge what it did."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from otel_toolselect.cli import _target as t
from otel_toolselect.cli._options import Output, Store, Suite, examples, report_format

if TYPE_CHECKING:
    from otel_toolselect.app.rerunning import After
    from otel_toolselect.app.running import Ran

_STOPPED = 130


def register(app: typer.Typer) -> None:
    app.command(
        "run",
        epilog=examples(
            "toolselect run --suite suite.yaml --exec 'python agent.py {prompt}'",
            "toolselect run --suite suite.yaml --http http://127.0.0.1:8000/ask --attempts 5 --dir runs/today",
            "toolselect run --suite suite.yaml --callable shop.agent:answer --tag bucket=core",
            "toolselect run --suite suite.yaml --exec './agent {prompt}' --after report.json --cluster refund:invoice",
            "toolselect run --suite suite.yaml --model NAME --base-url https://api.example.com/v1 --catalog tools.json",
        ),
    )(command)


def command(
    suite: Suite,
    exec_: Annotated[
        str | None,
        typer.Option(
            "--exec",
            metavar="COMMAND",
            help="Start this for each attempt, without a shell; {prompt}, {case_id}, {attempt} become single "
            "arguments. The prompt is on standard input too.",
        ),
    ] = None,
    http: Annotated[
        str | None, typer.Option("--http", metavar="URL", help='POST {"prompt": ...} there for each attempt.')
    ] = None,
    callable_: Annotated[
        str | None, typer.Option("--callable", metavar="PKG:FUNC", help="Call this Python function with each prompt.")
    ] = None,
    model: t.Model = None,
    base_url: t.BaseUrl = None,
    catalog: t.Catalogs = None,
    system: t.System = None,
    attempts: t.Attempts = 1,
    concurrency: t.Concurrency = 4,
    timeout: t.Timeout = 120.0,
    deadline: Annotated[float | None, typer.Option("--deadline", min=0.1, help="Seconds for the whole run.")] = None,
    retries: t.Retries = 0,
    case: t.Case = None,
    tag: t.Tag = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="REPORT.json",
            help="After a fix: only cases that failed in this report, and those tagged bucket=core; then what moved.",
        ),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option("--cluster", metavar="EXPECTED:OBSERVED", help="With --after: of the failures only this pair."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Shuffle each round of cases by this number.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Name of the experiment, kept with every run.")] = None,
    folder: t.Folder = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest run of this suite and target (instead of --dir).")
    ] = False,
    header: t.Headers = None,
    body: Annotated[
        str | None, typer.Option("--body", metavar="JSON", help="Body for --http; {prompt} is put into its texts.")
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="For --exec and --callable; kept nowhere.")
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="FILE", help="Interpreter of the agent's environment (--callable)."),
    ] = None,
    record: Annotated[
        Literal["auto", "spans", "answer"],
        typer.Option("--record", help="What tells of an attempt: its spans, its answer, or whichever does."),
    ] = "auto",
    protocol: Annotated[
        Literal["http/protobuf", "grpc"], typer.Option("--protocol", help="How the agent is told to send its spans.")
    ] = "http/protobuf",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Where the run receives spans. Default: any free port, which the agent is told; with --http, whose "
            "agent cannot be told, 4318 (4317 for grpc).",
        ),
    ] = None,
    spans_wait: Annotated[
        float, typer.Option("--spans-wait", min=0, help="Seconds to wait for an attempt's spans after its answer.")
    ] = 15.0,
    store: Store = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep spans and verdicts in the store too, as `eval` does.")
    ] = False,
    from_store: Annotated[
        bool,
        typer.Option("--from-store", help="The agent's spans come to the store by themselves (a running `serve`)."),
    ] = False,
    form: Annotated[str, report_format()] = "table",
    output: Output = None,
) -> None:
    """Send the cases of a suite to an agent or a model, receive its spans, print the scorecard.

    Give one of --exec, --http, --callable, --model. What is done is kept in the run's folder; after Ctrl-C, a crash or
    --deadline the same command with --dir goes on. Exit code: 0 every judged run passed, 1 some failed, 3 too few,
    4 what is to be run is out of reach.
    """
    from pathlib import Path

    from otel_toolselect.app.running import Wanted
    from otel_toolselect.app.running import run as run_suite
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._progress import progress
    from otel_toolselect.cli._stopping import stoppable
    from otel_toolselect.cli._verdict import finish
    from otel_toolselect.config import load
    from otel_toolselect.errors import TooFewError, UsageError
    from otel_toolselect.suites.runner import Options, Playing

    kind, where = t.chosen({"exec": exec_, "http": http, "callable": callable_, "model": model})
    if resume and folder is not None:
        raise UsageError("--resume looks for the folder, --dir names it: give one of them")
    if kind == "model":
        record = "answer"
        options = t.model_options(
            where, suite=suite, catalogs=catalog, system=system, base_url=base_url, timeout=timeout, headers=header
        )
    else:
        options = Options(
            where,
            timeout,
            env=t.pairs_of("--env", env, "="),
            headers=t.pairs_of("--header", header, ":"),
            body=body,
            python=python,
        )
    wanted = Wanted(
        suite,
        kind,
        options,
        attempts=attempts,
        cases=case or (),
        tags=t.tags_of(tag),
        after=_before(after, cluster),
        seed=seed,
        label=label,
        folder=Path(folder) if folder is not None else None,
        resume=resume,
        playing=Playing(concurrency, retries, spans_wait, record),
        protocol=protocol,
        port=port,
        deadline_s=deadline,
        keep=keep,
        from_store=from_store,
    )
    with stoppable() as stop:
        ran = run_suite(wanted, load({"store": store}), stop=stop, tell=say, progress=progress)
    _tell(ran)
    if ran.cause == "stopped":
        raise typer.Exit(_STOPPED)
    try:
        finish(ran.done, form, output)
    except (typer.Exit, TooFewError):
        if ran.cause != "faults" and not _lost(ran):  # why there are few, or bad ones, is another matter then
            raise
    finally:
        if wanted.after is not None and after is not None:
            _moved(wanted.after, ran, after, form, output)
    _all_done(ran)


def _before(path: str | None, clusters: list[str] | None) -> After | None:
    from otel_toolselect.app.rerunning import After
    from otel_toolselect.errors import UsageError
    from otel_toolselect.reports import read_report

    if path is None:
        if clusters:
            raise UsageError("--cluster: only together with --after")
        return None
    pairs = []
    for text in clusters or ():
        expected, there, observed = text.partition(":")
        if not there:
            raise UsageError(f"--cluster {text!r}: write EXPECTED:OBSERVED, as triage names them")
        pairs.append((expected, observed))
    return After(read_report(path), pairs)


def _moved(before: After, ran: Ran, path: str, form: str, output: str | None) -> None:
    """What moved where, below a table; a file for programs holds one thing."""
    from otel_toolselect import gates, reports
    from otel_toolselect.cli._output import say, wants_colour, width, write
    from otel_toolselect.errors import TooFewError

    if form != "table" or output is not None:
        say(f"what moved where: toolselect compare {path} {output or 'AFTER.json'}")
        return
    try:
        found = gates.compare([("before", before.report), ("after", ran.done.report)])
    except TooFewError as error:
        say(str(error))
        return
    write(["\n", reports.comparison_table(found, colour=wants_colour(output), width=width(output))], output)


def _tell(ran: Ran) -> None:
    from otel_toolselect.cli._output import say
    from otel_toolselect.stats import repeats

    say(f"{ran.attempts - ran.left} of {ran.attempts} attempts are in {ran.folder}")
    flips = repeats(ran.done.report.runs).flips
    if flips.n:
        say(f"flip rate {flips.passed}/{flips.n} cases; `toolselect flips` shows which, from --format json")
    if ran.nothing:
        say(
            f"{ran.nothing} attempts showed no decision: no spans came, and the answers state no calls; "
            "docs/runner.md says what an agent must send"
        )
    if ran.late:
        say(f"{ran.late} spans came too late or name no attempt, and count nowhere; see --spans-wait")
    if ran.left:
        why = {"stopped": "stopped", "deadline": "the time of --deadline is up", "faults": "too many faults in a row"}
        say(f"{why.get(ran.cause or '', 'cut short')}: {ran.left} attempts are left; go on with\n  {_again(ran)}")


def _again(ran: Ran) -> str:
    """The same command line, with the folder; secrets that stand in it stay out."""
    import os
    import shlex

    from otel_toolselect.config import Redact
    from otel_toolselect.suites.runner.masking import Masker, secrets_of

    words = [word for word in sys.argv[1:] if word != "--resume"]
    for i, word in enumerate(words[:-1]):
        if word in ("--header", "--env"):
            sign = ":" if word == "--header" else "="
            words[i + 1] = f"{words[i + 1].partition(sign)[0]}{sign}***"
    if "--dir" not in words and not any(word.startswith("--dir=") for word in words):
        words += ["--dir", str(ran.folder)]
    return Masker(secrets_of(os.environ, {}), Redact()).text(f"toolselect {shlex.join(words)}")


def _lost(ran: Ran) -> bool:
    """Nothing but faults of the platform: also where there are fewer attempts than make a run give up."""
    summary = ran.done.report.summary
    return 0 < summary.runs == summary.infra


def _all_done(ran: Ran) -> None:
    from otel_toolselect.errors import EnvironmentProblem, TooFewError

    if ran.cause == "faults":
        raise EnvironmentProblem(f"the target does not answer: {ran.left} attempts are left")
    if _lost(ran):
        raise EnvironmentProblem("not one attempt came through: does the target run, and answer?")
    if ran.left:
        raise TooFewError(f"{ran.left} of {ran.attempts} attempts are not done")
