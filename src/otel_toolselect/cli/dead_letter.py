"""`toolselect dead-letter`: requests that could not be read or stored, and what to do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from otel_toolselect.cli._options import Output, Store, examples, format_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_toolselect.config import Settings
    from otel_toolselect.receive.letters import Letter

_LIST = "toolselect dead-letter list"
_RETRY = "toolselect dead-letter retry"
_DROP = "toolselect dead-letter drop --yes 1764496012"
_REASON_WIDTH = 70

Ids: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID...]", show_default=False, help="Ids, or how they begin; see list. Default: all."),
]
Spool: TypeAlias = Annotated[
    str | None,
    typer.Option("--spool", metavar="FOLDER", help="The receiver's spool, if serve was given one."),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="List, retry or drop requests that could not be read or stored; also while serve runs.",
        rich_markup_mode=None,
        epilog=examples(_LIST, _RETRY, _DROP),
    )
    group.command("list", epilog=examples(_LIST, f"{_LIST} --format json | jq -r '.[].reason' | sort | uniq -c"))(list_)
    group.command("retry", epilog=examples(_RETRY, f"{_RETRY} 1764496012"))(retry)
    group.command("drop", epilog=examples(_DROP, "toolselect dead-letter drop --yes"))(drop)
    app.add_typer(group, name="dead-letter")


def list_(
    store: Store = None,
    spool: Spool = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Show the dead letters, the oldest first: id, when, signal, size in bytes, reason, and the tenant if there is one.

    `acknowledged`: the sender was told that it is kept. The others were refused, and their senders were told why.
    """
    from otel_toolselect.app import deadletters
    from otel_toolselect.cli._output import write

    found = deadletters.find(_settings(store, spool))
    write([_json(found) if form == "json" else _table(found)], output)


def retry(ids: Ids = None, store: Store = None, spool: Spool = None) -> None:
    """Give dead letters to the store once more, through serve if it runs; those that it takes are removed.

    One that was refused when it arrived must pass the limits and the redaction that are configured now. Retrying twice
    stores nothing twice. Exit code: 0 all are stored, 2 some cannot be read, 4 the store does not take some.
    """
    from otel_toolselect.app import deadletters
    from otel_toolselect.cli._output import say
    from otel_toolselect.cli._store import opened

    settings = _settings(store, spool)
    chosen = deadletters.find(settings, ids or ())
    spans = logs = stored = code = 0
    if chosen:
        with opened(settings.dsn) as held:
            for done in deadletters.retry(chosen, held, settings):
                if done.problem is not None:
                    say(f"stays: {done.letter.id}: {done.problem}")
                    code = max(code, done.problem.exit_code)
                    continue
                stored, spans, logs = stored + 1, spans + done.spans, logs + done.logs
    print(f"{stored} of {len(chosen)} dead letters are in the store: {spans} spans and {logs} log records")
    if code:
        raise typer.Exit(code)


def drop(
    ids: Ids = None,
    store: Store = None,
    spool: Spool = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without it they are only named.")] = False,
) -> None:
    """Remove dead letters for good.

    Exit code: 0 removed, 2 nothing was removed as --yes is missing.
    """
    from otel_toolselect.app import deadletters
    from otel_toolselect.errors import UsageError

    chosen = deadletters.find(_settings(store, spool), ids or ())
    if not yes:
        raise UsageError(f"this would remove {_count(chosen)} for good; say so with --yes")
    for letter in chosen:
        letter.remove()
    print(f"{_count(chosen)} removed")


def _settings(store: str | None, spool: str | None) -> Settings:
    from otel_toolselect.config import load

    return load({"store": store, "spool": spool})


def _count(letters: Sequence[Letter]) -> str:
    return f"{len(letters)} dead letter{'' if len(letters) == 1 else 's'} ({sum(x.size for x in letters)} bytes)"


def _json(letters: Sequence[Letter]) -> str:
    import json

    rows = [
        {
            "id": x.id,
            "when": _when(x),
            "signal": x.signal or None,
            "bytes": x.size,
            "reason": x.reason,
            "acknowledged": x.acknowledged,
            "tenant": x.tenant or None,
            "path": str(x.path),
        }
        for x in letters
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def _table(letters: Sequence[Letter]) -> str:
    if not letters:
        return "no dead letters\n"
    tenants = any(x.tenant for x in letters)
    head = ("ID", "WHEN", "SIGNAL", "BYTES", *(("TENANT",) if tenants else ()), "REASON")
    rows = [head]
    for x in letters:
        reason = x.reason if len(x.reason) <= _REASON_WIDTH else x.reason[: _REASON_WIDTH - 3] + "..."
        tenant = (x.tenant or "-",) if tenants else ()
        rows.append((x.id, _when(x), x.signal or "damaged", str(x.size), *tenant, " ".join(reason.split())))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head) - 1)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
    return "\n".join(lines) + f"\n{_count(letters)}\n"


def _when(letter: Letter) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(letter.when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
