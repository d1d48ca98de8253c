"""What every store must do (`store/api.py`). An implementation joins by a subclass with a fixture `dsn`.

By topic in the files beside; here is what concerns a store as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import Span
from otel_toolselect.store import Store, clickhouse, open_store
from tests.store.builders import DAY, T0, log, span
from tests.store.contract.alerts import AlertsContract
from tests.store.contract.arrivals import ArrivalsContract
from tests.store.contract.audit import AuditContract
from tests.store.contract.browse import BrowseContract
from tests.store.contract.crews import CrewsContract
from tests.store.contract.judged import JudgedContract
from tests.store.contract.labels import LabelsContract
from tests.store.contract.spans import SpansContract


def clean_up(store: Store) -> None:
    """What ClickHouse does by itself within hours."""
    assert isinstance(store, clickhouse.ClickHouseStore)
    for table in ("otel_traces", "otel_logs"):
        store._session.execute(f"OPTIMIZE TABLE {table} FINAL")


class StoreContract(
    SpansContract,
    ArrivalsContract,
    JudgedContract,
    AlertsContract,
    AuditContract,
    LabelsContract,
    CrewsContract,
    BrowseContract,
):
    @pytest.fixture
    def dsn(self) -> str:
        raise NotImplementedError

    @pytest.fixture
    def store(self, dsn: str) -> Iterator[Store]:
        opened = open_store(dsn)
        yield opened
        opened.close()

    def test_empty_store_has_nothing(self, store: Store) -> None:
        assert list(store.traces()) == []
        assert store.orphan_logs() == ()
        assert list(store.runs()) == []
        assert list(store.verdicts()) == []
        found = store.overview()
        assert (found.scopes, found.spans, found.logs, found.runs, found.verdicts) == ((), 0, 0, 0, 0)

    def test_inserting_nothing_is_fine(self, store: Store) -> None:
        store.insert([], [])
        store.write_runs([])
        store.write_verdicts([])
        assert store.overview().spans == 0

    # retention

    def test_retention_removes_what_is_older(self, store: Store) -> None:
        now = time.time_ns()
        old, new, ahead, bare = (span(n, start_ns=t, end_ns=t) for n, t in enumerate((now - 400 * DAY, now, 2**62, 0)))
        store.insert([old, new, ahead, bare], [log(9, time_ns=now - 400 * DAY)])
        store.set_retention(None)
        assert len(list(store.traces())) == 5  # no retention: nothing is old
        store.set_retention(90)
        store.set_retention(90)
        clean_up(store)
        assert [s[0].span_id for s, _ in store.traces()] == [one.span_id for one in (new, ahead, bare)]
        store.set_retention(None)
        store.insert([old], [])
        clean_up(store)
        assert len(list(store.traces())) == 4

    @pytest.mark.parametrize("days", [0, -1, 40_000])
    def test_a_retention_that_makes_no_sense_is_refused(self, store: Store, days: int) -> None:
        with pytest.raises(StoreError, match="1 to 36500 days") as caught:
            store.set_retention(days)
        assert not caught.value.retryable

    # life

    def test_a_bookmark_is_the_last_one_set(self, store: Store) -> None:
        assert store.bookmark("live") is None
        for place in ("1", "3", "2"):
            store.set_bookmark("live", place)
        store.set_bookmark("other", "9")
        assert store.bookmark("live") == "2"

    def test_overview_counts_by_service_and_scope(self, store: Store) -> None:
        store.insert([span(1, 1), span(2, 2), span(2, 3, scope_name="lib", scope_version="1")], [log(1)])
        found = store.overview()
        shown = [(s.service, s.scope, s.scope_version, s.spans, s.traces, s.first_ns, s.last_ns) for s in found.scopes]
        assert shown == [("shop", "", "", 2, 2, T0 + 1, T0 + 2), ("shop", "lib", "1", 1, 1, T0 + 3, T0 + 3)]
        assert (found.spans, found.logs, found.foreign) == (3, 1, False)

    def test_sizes_of_the_tables(self, store: Store) -> None:
        assert "otel_traces" not in {size.table for size in store.sizes()}
        store.insert([span()], [])
        store.insert([Span(f"{2:032x}", "01", start_ns=T0)], [])
        (found,) = (size for size in store.sizes() if size.table == "otel_traces")
        assert found.rows == 2
        assert found.parts >= 1
        assert found.bytes > 0

    def test_another_opening_sees_the_same(self, store: Store, dsn: str) -> None:
        store.insert([span()], [])
        other = open_store(dsn, create=False)
        assert [s for s, _ in other.traces()] == [(span(),)]
        other.close()

    def test_closed_store_says_so(self, dsn: str) -> None:
        opened = open_store(dsn)
        opened.close()
        opened.close()
        with pytest.raises(StoreError, match="is closed"):
            opened.insert([span()], [])

    def test_no_database_and_nothing_to_create(self, dsn: str) -> None:
        with pytest.raises(StoreError, match="no database"):
            open_store(f"{dsn}_none", create=False)

    def test_threads_may_share_a_store(self, store: Store) -> None:
        def work(number: int) -> int:
            store.insert([Span(f"{number:032x}", "01", start_ns=T0)], [])
            return len(list(store.traces(trace_ids=[f"{number:032x}"])))

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(12))) == [1] * 12
        assert store.overview().spans == 12
