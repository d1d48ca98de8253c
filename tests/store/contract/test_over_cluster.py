"""The contract on a cluster of two shards, as far as one engine can be one (tests/store/simulated.py).

Always those tests whose statements a cluster could answer differently: subqueries, rows that replace others, orders
over shards, claims. The whole contract takes a minute or two: `TOOLSELECT_CLUSTER=whole`. Three of its tests are left
out even so: two look at tables of one server, and the third wants a database that is not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.store.simulated import Simulated, simulated

from .alerts import AlertsContract
from .arrivals import ArrivalsContract
from .crews import CrewsContract
from .judged import JudgedContract
from .labels import LabelsContract
from .spans import SpansContract
from .suite import StoreContract


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    with simulated(tmp_path_factory.mktemp("cluster")) as found:
        yield found


class _OnCluster:
    @pytest.fixture
    def dsn(self, running: Simulated) -> Iterator[str]:
        yield running.dsn("contract")
        running.empty("contract")

    store = StoreContract.store


class TestOverCluster(_OnCluster):
    test_whole_traces = SpansContract.test_window_and_service_choose_whole_traces
    test_arrivals = ArrivalsContract.test_arrivals_come_by_pages
    test_replacing = JudgedContract.test_replacing_leaves_nothing_behind
    test_retracting = JudgedContract.test_a_retracted_run_is_gone_with_all_that_was_said_of_it
    test_strata = LabelsContract.test_strata_and_who_is_drawn
    test_leases = AlertsContract.test_one_of_several_holds_a_lease
    test_lag = AlertsContract.test_lag_is_from_the_end_of_a_span_to_its_being_stored
    test_windows = LabelsContract.test_a_run_counts_once_unless_cut_by_origin
    test_bonds = CrewsContract.test_bonds_are_told_once_to_each


if os.environ.get("TOOLSELECT_CLUSTER") == "whole":

    class TestWholeContractOverCluster(_OnCluster, StoreContract):
        test_retention_removes_what_is_older = None  # type: ignore[assignment]
        test_sizes_of_the_tables = None  # type: ignore[assignment]
        test_no_database_and_nothing_to_create = None  # type: ignore[assignment]
