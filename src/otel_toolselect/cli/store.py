"""`toolselect store`: the schema of a store, what it holds, and who may do what with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolselect.cli._options import Output, Store, examples, format_option

if TYPE_CHECKING:
    from otel_toolselect.store import Store as Opened
    from otel_toolselect.store import StoreState

_STATUS = "toolselect store status"
_MIGRATE = "toolselect store migrate --store clickhouse://migrator:PASSWORD@host/toolselect"
_GRANTS = "toolselect store grants --store clickhouse://host/toolselect --user writer=toolselect --user reader=grafana"


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Look at a store, bring its tables up to date, print what its users need.",
        rich_markup_mode=None,
        epilog=examples(_STATUS, _MIGRATE, _GRANTS),
    )
    group.command("status", epilog=examples(_STATUS, f"{_STATUS} --format json | jq -r '.pending[]'"))(status)
    group.command("migrate", epilog=examples(_MIGRATE, f"{_MIGRATE} --dry-run"))(migrate)
    group.command("grants", epilog=examples(_GRANTS, f"{_GRANTS} --user migrator=ops"))(grants)
    app.add_typer(group, name="store")


def status(
    store: Store = None,
    form: Annotated[str, format_option("table", "json")] = "table",
    output: Output = None,
) -> None:
    """Show the engine, the schema and what of it is missing, each table with its rows, parts, bytes and retention, and
    the servers of a cluster. Nothing is changed.

    Exit code: 0 up to date, 1 migrations are missing, 4 there is no store or it does not answer.
    """
    from otel_toolselect.cli._output import write
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    with opened(load({"store": store}).dsn, create=False) as held:
        state = held.state()
        write([_json(held, state) if form == "json" else _table(held, state)], output)
    if state.pending:
        raise typer.Exit(1)


def migrate(
    store: Store = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the statements, run none.")] = False,
) -> None:
    """Bring the tables up to date, and the retention to what the settings say, as a user that may change tables.

    `serve` and the other commands do this themselves where they may. Safe to repeat and to run twice at once.
    """
    from otel_toolselect.app import storing
    from otel_toolselect.cli._output import say
    from otel_toolselect.config import load

    settings = load({"store": store})
    if dry_run:
        found = storing.pending(settings.dsn)
        if not found.statements:
            say("up to date: there is nothing to run")
        print("".join(f"{statement};\n" for statement in found.statements), end="")
        return
    done = storing.migrate(settings)
    print(f"applied {', '.join(done)}" if done else "up to date")


def grants(
    users: Annotated[
        list[str],
        typer.Option("--user", metavar="ROLE=NAME", help="writer, reader or migrator, and a name; may be repeated."),
    ],
    store: Store = None,
    output: Output = None,
) -> None:
    """Print the statements that make users of a ClickHouse server and grant each what it needs. None is run: an
    administrator puts the hashes of passwords in, and runs them.

    writer: serve and all that keeps something; reader: dashboards; migrator: store migrate. See docs/store.md.
    """
    from otel_toolselect.app import storing
    from otel_toolselect.cli._output import write
    from otel_toolselect.config import load

    write([storing.grants(load({"store": store}).dsn, users)], output)


def _json(store: Opened, state: StoreState) -> str:
    import json
    from dataclasses import asdict

    facts = {"store": store.dsn, "via": store.via} | asdict(state)
    del facts["statements"]
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def _table(store: Opened, state: StoreState) -> str:
    newest = state.applied[-1] if state.applied else "none"
    missing = f", missing: {', '.join(state.pending)}; run `toolselect store migrate`" if state.pending else ""
    facts = [
        ("store", store.dsn),
        ("reached", f"through {store.via}" if store.via else "directly"),
        ("engine", f"ClickHouse {state.engine}"),
        ("schema", f"{newest}{missing or ', up to date'}"),
    ]
    if state.foreign:
        facts.append(("spans", "in a table that a Collector made; it is read and never changed"))
    if state.cluster is not None:
        shards = len({replica.shard for replica in state.replicas})
        facts.append(("cluster", f"{state.cluster}, {shards} shards on {len(state.replicas)} servers"))
    lines = [f"{name:<9}{value}" for name, value in facts]
    lines += [
        f"{'':<9}shard {one.shard}: {one.host}, {one.delay_s} s behind, {one.waiting} parts waiting"
        + (f", {one.readonly} tables READ-ONLY" if one.readonly else "")
        for one in state.replicas
    ]
    lines += ["", "TABLES"]
    rows = [("table", "rows", "parts", "bytes", "keeps")]
    rows += [(t.table, f"{t.rows}", f"{t.parts}", f"{t.bytes}", t.keeps or "all") for t in state.tables]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for name, *figures, keeps in rows:
        shown = "  ".join(figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True))
        lines.append(f"{name.ljust(widths[0])}  {shown}  {keeps}")
    return "\n".join(lines) + "\n"
