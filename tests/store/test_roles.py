"""Grants as ClickHouse enforces them: an engine whose only user has those of a role. No other engine is open here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.store import Store, grants, migrations, open_store, opening
from otel_toolselect.store.alert_api import AlertRecord
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.crew_api import Worker
from otel_toolselect.store.grants import Role
from tests.store.builders import T0, decision, run, span, verdict

DATABASE = "tools"
_USERS = """<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
<grants>{grants}</grants></default></users></clickhouse>"""
_CONFIG = "<clickhouse><user_directories><users_xml><path>{path}</path></users_xml></user_directories></clickhouse>"


@contextmanager
def user_of(home: Path, role: Role) -> Iterator[str]:
    """A store's DSN, in an engine whose user may do what the role may and nothing else."""
    users, config = home / f"{role}-users.xml", home / f"{role}.xml"
    rights = "".join(f"<query>GRANT {right}</query>" for right in grants.rights(role, DATABASE, None))
    users.write_text(_USERS.format(grants=rights))
    config.write_text(_CONFIG.format(path=users))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "_ENGINE_OPTIONS", dict(opening._ENGINE_OPTIONS) | {"config-file": str(config)})
        yield f"chdb://{home / 'engine'}?database={DATABASE}"


def written(store: Store) -> None:
    """Something of everything that is kept."""
    store.insert([span()], [])
    store.write_runs([run("r1")])
    store.replace_judged(["s"], [run("r1")], [verdict(run_id="r1")], [decision("r1")])
    store.set_bookmark("live", "1")
    store.alerts.write_records([AlertRecord("a", "{}", "{}", "firing", T0, T0, "x")])
    assert store.alerts.claim("monitor", "me", 30)
    store.crews.report("crew", Worker("w", 1))
    store.retract(["r1"])


def test_each_role_may_do_its_work_and_no_more(tmp_path: Path) -> None:
    with user_of(tmp_path, "migrator") as dsn:
        migrator = open_store(dsn)
        migrator.set_retention(90, run_days=400)
        assert migrator.state().pending == ()
        migrator.close()
    with user_of(tmp_path, "writer") as dsn:
        writer = open_store(dsn)
        written(writer)
        writer.set_retention(90, run_days=400)  # as it is: nothing to change
        with pytest.raises(StoreError, match=r"may not change them: run `toolselect store migrate --store DSN`"):
            writer.set_retention(30)
        assert isinstance(writer, ClickHouseStore)
        with pytest.raises(StoreError, match=r"may not do what is asked .*`toolselect store grants` prints"):
            writer._session.execute("DROP TABLE runs")
        writer.close()
    with user_of(tmp_path, "reader") as dsn:
        reader = open_store(dsn)
        assert len(list(reader.traces())) == 1
        assert reader.state().tables
        assert reader.overview().spans == 1
        with pytest.raises(StoreError, match="may not do what is asked"):
            reader.insert([span(2)], [])
        reader.close()


def test_a_user_that_may_not_migrate_is_told_which_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = migrations.shipped()
    with user_of(tmp_path, "migrator") as dsn:
        monkeypatch.setattr(migrations, "shipped", lambda: shipped[:9])
        open_store(dsn).close()
        monkeypatch.setattr(migrations, "shipped", lambda: shipped)
    with (
        user_of(tmp_path, "writer") as dsn,
        pytest.raises(StoreError, match="not as they should be, and this user may not change them: run") as caught,
    ):
        open_store(dsn)
    assert not caught.value.retryable
