"""What is special about a store on a cluster; the contract on one is in contract/test_over_cluster.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.errors import StoreError, UsageError
from otel_toolselect.model.alerting import Query, Scope, Window
from otel_toolselect.store import Tier, migrations, open_store, window_queries
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.cluster import SETTINGS, Cluster
from otel_toolselect.store.dsn import Remote, parse
from otel_toolselect.store.migrations import migrate, shipped
from tests.store.builders import HOUR, T0, decision, run, span, verdict
from tests.store.simulated import NAME, SHARDS, Simulated, simulated


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    with simulated(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="module")
def opened(running: Simulated) -> Iterator[ClickHouseStore]:
    store = open_store(running.dsn("own"))
    assert isinstance(store, ClickHouseStore)
    yield store
    store.close()


@pytest.fixture
def store(running: Simulated, opened: ClickHouseStore) -> Iterator[ClickHouseStore]:
    yield opened
    running.empty("own")


def by_shard(store: ClickHouseStore, table: str) -> list[int]:
    found = store._session.select(f"SELECT _shard_num AS S, count() AS N FROM {table} GROUP BY S ORDER BY S")
    return [int(n) for n in found["N"]]


def test_a_cluster_is_named_in_the_dsn() -> None:
    place = parse("clickhouse://u:p@h/db?cluster=prod&quorum=2")
    assert place == Remote("h", 8123, "db", user="u", password="p", cluster=Cluster("prod", "2"))
    assert place.shown == "clickhouse://h:8123/db?cluster=prod"
    assert Cluster("prod", "2").settings == dict(SETTINGS) | {"insert_quorum": "2"}


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("cluster=a'b", "no name of a cluster"),
        ("cluster=", "no name of a cluster"),
        ("cluster=c&quorum=1", "no quorum"),
        ("quorum=2", "say which with cluster="),
        ("clutser=c", "clutser= in --store says nothing here; known: cluster=, quorum="),
    ],
)
def test_a_wrong_option_is_refused(query: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse(f"clickhouse://h/db?{query}")


def test_rows_are_on_their_shards_and_what_belongs_together_is_on_one(store: ClickHouseStore) -> None:
    store.insert([span(t, n) for t in range(40) for n in range(3)], [])
    runs = [run(f"r{n}") for n in range(40)]
    store.write_runs(runs)
    store.add_judged([verdict(run_id=r.run_id) for r in runs], [decision(r.run_id) for r in runs])
    for table, rows in (("otel_traces", 120), ("runs", 40), ("judgements", 40)):
        shares = by_shard(store, table)
        assert len(shares) == SHARDS
        assert sum(shares) == rows
        assert min(shares) > rows / SHARDS / 3
    assert all(n % 3 == 0 for n in by_shard(store, "otel_traces"))  # whole traces
    both = "SELECT count() AS N FROM (SELECT RunId, _shard_num AS S FROM {} UNION ALL SELECT RunId, _shard_num FROM {})"
    apart = f"{both.format('runs', 'judgements')} GROUP BY RunId HAVING uniqExact(S) > 1"
    assert store._session.select(apart).get("N", []) == []


def test_what_is_replaced_and_marked_meets_on_one_shard(store: ClickHouseStore) -> None:
    runs = [run(f"r{n}") for n in range(20)]
    for status in ("pass", "fail"):
        store.write_runs(runs)
        store.add_judged([], [decision(r.run_id, status=status) for r in runs])
    assert {d.status for d in store.decisions()} == {"fail"}
    store.retract([r.run_id for r in runs[5:]])
    assert store.overview().runs == 5
    assert len(list(store.decisions())) == 5
    shown = store._session.select("SELECT count() AS N FROM decisions WHERE RunId = 'r1'")
    assert shown["N"] == [len(decision("r1").cells)]


def plan(store: ClickHouseStore, sql: str, params: Mapping[str, Any] | None = None) -> str:
    return store._session._open().raw_query(f"EXPLAIN {sql}", parameters=dict(params or {}), fmt="TSVRaw").decode()


def test_windows_are_counted_on_the_shards(store: ClickHouseStore) -> None:
    """Each shard aggregates its own rows: what goes to the first server is as large as the answer."""
    store.add_judged([], [decision(f"r{n}") for n in range(20)])
    select = window_queries.figures(Query("recall", Scope(suite=("s",)), by=("agent",)), [Window(T0, T0 + HOUR)])
    above, _, shards = plan(store, select.sql, select.params).partition("Union")
    assert "MergingAggregated" in above
    assert shards.count("──Aggregating") == shards.count("ReadFromMergeTree") == SHARDS


@pytest.mark.parametrize("sql", ["runs FINAL", "judgements FINAL", "decisions", "events"])
def test_a_condition_on_the_key_asks_one_shard(store: ClickHouseStore, sql: str) -> None:
    store.write_runs([run(f"r{n}") for n in range(20)])
    store.add_judged([], [decision(f"r{n}") for n in range(20)])
    text = plan(store, f"SELECT count() FROM {sql} WHERE RunId = 'r1'")
    assert text.count("ReadFromMergeTree") == 1
    everywhere = plan(store, f"SELECT count() FROM {sql} WHERE RunId != 'r1'")
    assert everywhere.count("ReadFromMergeTree") == everywhere.count("──Aggregating") == SHARDS


def test_sub_queries_see_all_shards(store: ClickHouseStore) -> None:
    store.insert([span(t, n, start_ns=T0 + t) for t in range(30) for n in range(2)], [])
    found = [spans[0].trace_id for spans, _ in store.traces(since_ns=T0 + 10, service="shop")]
    assert found == [f"{t:032x}" for t in range(10, 30)]


def test_a_dsn_and_a_database_must_agree_on_the_cluster(running: Simulated, opened: ClickHouseStore) -> None:
    with pytest.raises(StoreError, match=rf"on a cluster; add \?cluster={NAME} to --store") as caught:
        open_store(running.dsn("own", cluster_name=None))
    assert not caught.value.retryable
    open_store(running.dsn("plain", cluster_name=None)).close()
    with pytest.raises(StoreError, match=r"those of one server; leave \?cluster= away"):
        open_store(running.dsn("plain"))


def test_a_collectors_table_is_not_put_on_a_cluster(running: Simulated) -> None:
    statements = (Path(__file__).parent / "collector_logs.sql").read_text()
    running.query("CREATE DATABASE theirs")
    running.query("USE theirs")
    running.query(statements)
    with pytest.raises(StoreError, match=r"otel_logs .* was made by a Collector; give toolselect a database"):
        open_store(running.dsn("theirs"))


def test_a_cluster_is_brought_up_to_date_step_by_step(running: Simulated) -> None:
    """From an older version: the same tables as a new one has, and the rows are still there."""
    dsn = running.dsn("older")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(migrations, "shipped", lambda: shipped()[:7])
        older = open_store(dsn, create=True)
        assert isinstance(older, ClickHouseStore)
        older.insert([span()], [])
        older.close()
    newer = open_store(dsn)
    assert [spans for spans, _ in newer.traces()] == [(span(),)]
    assert newer.state().pending == ()
    newer.close()

    def shown(database: str) -> str:
        return running.query(
            f"SELECT name, replaceAll(create_table_query, '{database}', '') FROM system.tables"
            f" WHERE database = '{database}' ORDER BY name"
        )

    open_store(running.dsn("newest")).close()
    assert shown("older") == shown("newest")


def test_one_that_was_cut_off_while_it_made_the_tables_is_finished(running: Simulated) -> None:
    dsn = running.dsn("cutoff")
    store = open_store(dsn)
    assert isinstance(store, ClickHouseStore)
    for name in ("toolselect_migrations", "runs", "events"):
        running.query(f"DROP TABLE cutoff.{name} SYNC")
    running.query("TRUNCATE TABLE cutoff.toolselect_migrations_local")
    assert [m.number for m in migrate(store._session)] == [m.number for m in shipped()]
    store.write_runs([run("r1")])
    assert [r.run_id for r in store.runs()] == ["r1"]
    store.close()


def test_retention_and_tiers_are_set_on_the_local_tables(store: ClickHouseStore) -> None:
    store.set_retention(90, run_days=400, tier=Tier("tiered", "cold", 7))
    store.set_retention(90, run_days=400, tier=Tier("tiered", "cold", 7))
    keeps = {table.table: table.keeps for table in store.state().tables}
    assert keeps["otel_traces"] == "moved to cold after 7 days, deleted after 90 days"
    assert keeps["runs"] == "moved to cold after 7 days, deleted after 400 days"
    assert keeps["judgements"] == "deleted after 400 days"
    assert keeps["labels"] == ""
    store.set_retention(None)
    assert {table.keeps for table in store.state().tables if table.table in ("otel_traces", "runs")} == {""}


@pytest.mark.parametrize(
    ("tier", "says"),
    [
        (Tier("none", "cold", 7), "no storage policy 'none', only default, tiered"),
        (Tier("tiered", "ice", 7), "no volume 'ice', only default, cold"),
        (Tier("tiered", "cold", 90), "moved to 'cold' after 90 days, but are deleted after 90"),
    ],
)
def test_a_tier_that_is_not_there_is_refused(store: ClickHouseStore, tier: Tier, says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        store.set_retention(90, tier=tier)
    assert not caught.value.retryable


def test_the_state_names_the_cluster(store: ClickHouseStore) -> None:
    state = store.state()
    assert (state.cluster, [replica.shard for replica in state.replicas]) == (NAME, [1, 2])
    assert {table.table for table in state.tables} == migrations.schema_of(shipped()).tables.keys()
