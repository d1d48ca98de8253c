"""Generated grants, as ClickHouse reads them; test_roles.py has it enforce them."""

from __future__ import annotations

import pytest

from otel_toolselect.errors import UsageError
from otel_toolselect.store import grants, migrations
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.cluster import Cluster
from otel_toolselect.store.grants import ROLES


@pytest.mark.parametrize("cluster", [None, Cluster("prod")])
def test_clickhouse_reads_each_statement(store: ClickHouseStore, cluster: Cluster | None) -> None:
    made = grants.statements("it's", cluster, {role: f"the.{role}" for role in ROLES})
    for statement in made:
        store._session.execute("EXPLAIN AST " + statement)
    assert grants.script(made).count(";\n") == len(made)
    assert all(("ON CLUSTER 'prod'" in statement) == (cluster is not None) for statement in made)


def test_no_password_is_given() -> None:
    (made, *_) = grants.statements("d", None, {"reader": "r"})
    assert made == "CREATE USER IF NOT EXISTS `r` IDENTIFIED WITH sha256_hash BY 'SHA-256 OF ITS PASSWORD'"


@pytest.mark.parametrize("name", ["", "a b", "a`b", "'"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no name of a user"):
        grants.statements("d", None, {"reader": name})


def test_each_table_may_be_written_by_the_writer_but_the_history_of_migrations() -> None:
    made = grants.rights("writer", "d", None)
    tables = migrations.schema_of(migrations.shipped()).tables
    assert {f"SELECT, INSERT ON `d`.{name}" for name in tables if name != "toolselect_migrations"} <= set(made)
    assert "SELECT ON `d`.toolselect_migrations" in made
    assert not any("INSERT" in right or "ALTER" in right for right in grants.rights("reader", "d", Cluster("c")))
