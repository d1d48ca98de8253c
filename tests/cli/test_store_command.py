"""`toolselect store`: what it prints and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from otel_toolselect.cli import main
from otel_toolselect.store import migrations, open_store


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, which costs a tenth of one of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLSELECT_STORE", f"chdb://{tmp_path}/store")

    def run(*args: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(list(args))
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return run


def test_a_store_is_made_and_tells_of_itself(cli: Cli, tmp_path: Path) -> None:
    there_is_none = cli("store", "status")
    assert there_is_none.returncode == 4
    assert "there is no store" in there_is_none.stderr
    dry = cli("store", "migrate", "--dry-run")
    assert dry.stdout.count("CREATE TABLE IF NOT EXISTS") > 10
    assert not (tmp_path / "store").exists()
    labels = [migration.label for migration in migrations.shipped()]
    assert cli("store", "migrate").stdout == f"applied {', '.join(labels)}\n"
    assert cli("store", "migrate").stdout == "up to date\n"
    nothing = cli("store", "migrate", "--dry-run")
    assert (nothing.stdout, "nothing to run" in nothing.stderr) == ("", True)
    shown = cli("store", "status")
    assert shown.returncode == 0
    assert f"schema   {labels[-1]}, up to date" in shown.stdout
    assert "reached  directly" in shown.stdout
    state = json.loads(cli("store", "status", "--format", "json").stdout)
    assert state["applied"] == labels
    assert (state["pending"], state["cluster"], state["via"]) == ([], None, None)
    assert {"table": "labels", "rows": 0, "parts": 0, "bytes": 0, "keeps": ""} in state["tables"]


def test_a_store_of_an_older_version_says_what_is_missing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = migrations.shipped()
    monkeypatch.setattr(migrations, "shipped", lambda: shipped[:9])
    open_store(f"chdb://{tmp_path}/store").close()
    monkeypatch.setattr(migrations, "shipped", lambda: shipped)
    status = cli("store", "status")
    assert status.returncode == 1
    assert f"missing: {', '.join(m.label for m in shipped[9:])}; run `toolselect store migrate`" in status.stdout
    assert "workers" in cli("store", "migrate", "--dry-run").stdout
    cli("store", "migrate")
    assert cli("store", "status").returncode == 0


def test_migrate_applies_the_retention_of_the_settings(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "toolselect.toml").write_text("[retention]\ndays = 90\nrun_days = 400\n")
    cli("store", "migrate")
    keeps = {t["table"]: t["keeps"] for t in json.loads(cli("store", "status", "-f", "json").stdout)["tables"]}
    assert (keeps["otel_traces"], keeps["runs"]) == ("deleted after 90 days", "deleted after 400 days")
    (tmp_path / "toolselect.toml").write_text('[retention]\nstorage_policy = "tiered"\n')
    half = cli("store", "migrate")
    assert half.returncode == 2
    assert "only be moved to other disks with retention.move_to and retention.move_after_days set" in half.stderr


def test_grants_are_printed_and_not_carried_out(cli: Cli) -> None:
    made = cli(
        "store",
        "grants",
        "--store",
        "clickhouse://nobody-listens/db?cluster=c",
        "--user",
        "writer=w",
        "--user",
        "reader=r",
    )
    assert made.returncode == 0
    assert "CREATE USER IF NOT EXISTS `w` ON CLUSTER 'c'" in made.stdout
    assert "GRANT ON CLUSTER 'c' SELECT, INSERT ON `db`.otel_traces_local TO `w`;" in made.stdout
    assert not any("INSERT" in line for line in made.stdout.splitlines() if line.endswith("`r`;"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--user", "writer=w"), "an embedded store has no users"),
        (("--store", "clickhouse://h", "--user", "admin=w"), "not ROLE=NAME, each role once; roles: writer, reader"),
        (("--store", "clickhouse://h", "--user", "writer=a", "--user", "writer=b"), "each role once"),
        (("--store", "clickhouse://h/d?x=1", "--user", "writer=a"), "x= in --store says nothing here"),
    ],
)
def test_wrong_users_are_refused(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    refused = cli("store", "grants", *arguments)
    assert refused.returncode == 2
    assert says in refused.stderr
