"""`toolselect label`: say what was expected of runs of production traffic, and see what labels amount to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

from otel_toolselect.cli._options import Output, Since, Store, Until, examples, format_option

if TYPE_CHECKING:
    from otel_toolselect.app.labels import Desk
    from otel_toolselect.store import Store as OpenStore

_LABEL = examples(
    "toolselect label 3f2a9c --expected search_orders --by ann",
    "toolselect label 3f2a9c --no-call ask_followup --by raj --note 'two orders fit'",
    "toolselect label queue --day yesterday",
    "toolselect label next --by ann                       one after the other, in a terminal",
)
RunId: TypeAlias = Annotated[str, typer.Argument(metavar="RUN", help="Beginning of a run id or trace id.")]
By: TypeAlias = Annotated[str, typer.Option("--by", metavar="NAME", show_default=False, help="Who says so.")]
Day: TypeAlias = Annotated[
    str, typer.Option("--day", metavar="DAY", help="today, yesterday or 2026-01-31, in UTC: when runs started.")
]
Form: TypeAlias = Annotated[str, format_option("table", "json")]


class OrRun(TyperGroup):
    """A group whose first word may also be a run: `label RUN ...` is `label set RUN ...`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["set", *args]
        return super().resolve_command(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        cls=OrRun,
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Label runs of production traffic: `toolselect label RUN --expected TOOL --by NAME`, or by the queue of a "
        "day. Labels make accuracy and confusion of unlabelled traffic countable, by source.",
        epilog=_LABEL,
    )
    group.command("set", epilog=_LABEL)(set_)
    group.command("queue", epilog=examples("toolselect label queue", "toolselect label queue --by ann --day today"))(
        queue
    )
    group.command("next", epilog=examples("toolselect label next --by ann"))(next_)
    group.command("show", epilog=examples("toolselect label show 3f2a9c"))(show)
    group.command("judge", epilog=examples("toolselect label judge --day yesterday --limit 50"))(judge)
    group.command("import", epilog=examples("toolselect label import labels.csv"))(import_)
    group.command("export", epilog=examples("toolselect label export --since 7d -o labels.csv"))(export)
    group.command("figures", epilog=examples("toolselect label figures --since 30d"))(figures)
    group.command("agreement", epilog=examples("toolselect label agreement --since 30d"))(agreement)
    group.command("refresh", epilog=examples("toolselect label refresh"))(refresh)
    app.add_typer(group, name="label")


@contextmanager
def _desk(store: str | None, *, create: bool = False) -> Iterator[tuple[Desk, OpenStore]]:
    from otel_toolselect.app.labels import Desk
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    settings = load({"store": store})
    with opened(settings.dsn, create=create) as held:
        yield Desk(held, settings), held


def set_(
    run: RunId,
    by: By,
    expected: Annotated[
        str | None, typer.Option("--expected", metavar="TOOL[,..]", help="What would have been a right first action.")
    ] = None,
    no_call: Annotated[
        str | None,
        typer.Option("--no-call", metavar="none|ask_followup|refuse_no_tool", help="A right outcome instead."),
    ] = None,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="The first action is wrong; what is right, I cannot say.")
    ] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take your label back.")] = False,
    strange: Annotated[bool, typer.Option("--not-offered", help="The expected tool was not on offer.")] = False,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    store: Store = None,
) -> None:
    """Label one run. Another label of yours on it is replaced, and stays as history.

    Several allowed first actions are parted by commas; --expected and --no-call may stand together.
    """
    from otel_toolselect.errors import UsageError
    from otel_toolselect.model.runs import NO_CALL_LABELS

    if no_call is not None and no_call not in NO_CALL_LABELS:
        raise UsageError(f"--no-call is one of {', '.join(NO_CALL_LABELS)}, not {no_call!r}")
    named = [name for name in (expected or "").split(",") if name.strip()] + ([no_call] if no_call else [])
    if sum((bool(named), wrong, withdraw)) != 1:
        raise UsageError("say one of: --expected TOOL and/or --no-call LABEL; --wrong; --withdraw")
    if not by.strip():
        raise UsageError("--by names nobody")
    with _desk(store, create=True) as (desk, _):
        found = desk.run(run)
        if withdraw:
            desk.withdraw(found, by)
            print(f"{found.run_id}: the label of {by} is withdrawn")
            return
        label = desk.label(found, by, desk.checked(found, named, strange=strange), note=note)
        changed = desk.keep([label])
        verdict = "right" if label.accepts else "wrong"
        print(f"{found.run_id}: {label.first_action} is {verdict}{'' if changed else ' (as before)'}")


def queue(
    day: Day = "yesterday",
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="What NAME has not labelled; without it: nobody.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Runs to show.")] = 50,
    form: Form = "table",
    store: Store = None,
    output: Output = None,
) -> None:
    """Show which runs to label next: every run that a rule failed, then those on which sources disagree, then unsure
    ones, then a sample of each first action, then a random one.

    The same day and seed ([labels] seed) draw the same runs. `chance`: with which a run came into the sample, kept with
    its label so that figures can be weighted back.
    """
    import time

    from otel_toolselect import reports
    from otel_toolselect.app.labels import named_day
    from otel_toolselect.cli._output import say, wants_colour, width, write

    now = time.time_ns()
    chosen = named_day(day, now)
    with _desk(store) as (desk, _):
        found = desk.queue(chosen, by)
    _note_on_day(chosen, now)
    if not found.frame.population:
        say(f"no run started on {chosen}; --day names another, and runs are kept once they are judged")
    if form == "json":
        write([reports.queue_json(found, limit)], output)
    else:
        write([reports.queue_table(found, limit, colour=wants_colour(output), width=width(output))], output)


def next_(by: By, day: Day = "yesterday", store: Store = None) -> None:
    """Label one run after the other in a terminal: what was asked, what was offered, what was done, and a key for what
    was expected. What others say is shown afterwards, never before.

    In a pipe the first run is shown and nothing is asked.
    """
    import sys
    import time

    from otel_toolselect import reports
    from otel_toolselect.app.labels import named_day
    from otel_toolselect.cli._labelling import Terminal, session
    from otel_toolselect.cli._output import wants_colour, width, write

    now = time.time_ns()
    chosen = named_day(day, now)
    _note_on_day(chosen, now)
    with _desk(store, create=True) as (desk, held):
        waiting = desk.queue(chosen, by).waiting
        if sys.stdin.isatty() and sys.stdout.isatty():
            session(desk, held, waiting, by, Terminal(wants_colour(None), width(None)))
            return
        runs = desk.runs([waiting[0].run_id]) if waiting else []
        shown = [reports.run_card(run, desk.names(run), colour=False, width=width(None)) for run in runs]
        write(shown or [f"{by} has labelled all that is drawn of {chosen}\n"], None)


def _note_on_day(day: str, now_ns: int) -> None:
    from otel_toolselect.app.labels import bounds
    from otel_toolselect.cli._output import say

    if bounds(day)[1] > now_ns:
        say(f"{day} is not over: what comes later may still displace drawn runs, and chances are as of now")


def show(run: RunId, form: Form = "table", store: Store = None, output: Output = None) -> None:
    """Show a run with all labels that it was ever given, by whom and when."""
    from otel_toolselect import reports
    from otel_toolselect.app.label_files import record_of
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.model.decisions import LABELS

    with _desk(store) as (desk, held):
        found = desk.run(run)
        history = held.labels.history(found.run_id)
        judged = held.labels.decisions([found.run_id], found.start_ns, found.start_ns + 1)
        names = desk.names(found)
    if form == "json":
        import json

        lines = [json.dumps(record_of(label), ensure_ascii=False) + "\n" for label in history]
        write(lines, output)
        return
    colour, wide = wants_colour(output), width(output)
    on_labels = [d for d in judged if d.suite == LABELS]
    card = reports.run_card(found, names, colour=colour, width=wide)
    write([card, "\n", reports.labels_table(history, on_labels, colour=colour, width=wide)], output)


def judge(
    day: Day = "yesterday",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Runs to ask about.")] = 100,
    store: Store = None,
) -> None:
    """Ask the yes/no judge about the sample of a day: is the first action acceptable, and if not, is another?

    Answers are kept with their questions; what has one is not asked about again.
    """
    import time

    from otel_toolselect.app.labels import named_day

    with _desk(store, create=True) as (desk, _):
        asked, answered = desk.ask_judge(named_day(day, time.time_ns()), limit)
    print(f"{answered} of {asked} runs have an answer")


def import_(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help=".jsonl or .csv: run_id, by, expected, note.")],
    store: Store = None,
) -> None:
    """Import labels of people. With a mistake anywhere nothing is imported. Importing twice changes nothing."""
    from otel_toolselect.app.label_files import read_labels

    with _desk(store, create=True) as (desk, _):
        labels = [label for path in files for label in read_labels(path, desk)]
        changed = desk.keep(labels)
    print(f"{len(labels)} labels read, {changed} of them new or changed")


def export(
    form: Annotated[str, format_option("auto", "jsonl", "csv")] = "auto",
    since: Since = None,
    until: Until = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Only labels of NAME.")] = None,
    store: Store = None,
    output: Output = None,
) -> None:
    """Export the labels that stand, of people and judges, on runs that started in the window."""
    from otel_toolselect.app.label_files import csv_text, json_lines
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import write

    as_csv = form == "csv" or (form == "auto" and (output or "").lower().endswith(".csv"))
    with _desk(store) as (_, held):
        labels = list(held.labels.all(since_ns=moment(since), until_ns=moment(until), labeller=by))
    write(csv_text(labels) if as_csv else json_lines(labels), output)


def figures(
    since: Since = None, until: Until = None, form: Form = "table", store: Store = None, output: Output = None
) -> None:
    """Show accuracy by source of the label, and what people's labels on the sample say of all runs."""
    from otel_toolselect import reports
    from otel_toolselect.app.label_figures import label_figures
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import wants_colour, width, write

    with _desk(store) as (desk, held):
        found = label_figures(held, desk, moment(since), moment(until))
    if form == "json":
        write([reports.figures_json(found)], output)
    else:
        write([reports.figures_table(found, colour=wants_colour(output), width=width(output))], output)


def agreement(
    since: Since = None, until: Until = None, form: Form = "table", store: Store = None, output: Output = None
) -> None:
    """Show how far labellers and sources agree (Cohen's kappa), and what rules and judges are worth against people."""
    from otel_toolselect import reports
    from otel_toolselect.app.label_figures import agreement_figures
    from otel_toolselect.app.times import moment
    from otel_toolselect.cli._output import wants_colour, width, write

    with _desk(store) as (_, held):
        found = agreement_figures(held, moment(since), moment(until))
    if form == "json":
        write([reports.agreement_json(found)], output)
    else:
        write([reports.agreement_table(found, colour=wants_colour(output), width=width(output))], output)


def refresh(since: Since = None, until: Until = None, store: Store = None) -> None:
    """Judge labelled runs again under their labels: after [labels] policy has changed, or a command was cut off."""
    from otel_toolselect.app.times import moment

    with _desk(store, create=True) as (desk, held):
        labels = held.labels.all(since_ns=moment(since), until_ns=moment(until))
        ids: Sequence[str] = sorted({label.run_id for label in labels})
        count = desk.refresh(ids)
    print(f"{count} decisions on {len(ids)} labelled runs")
