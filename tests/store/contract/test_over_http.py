"""The contract with the client for servers, over HTTP to a real engine behind the gateway.

The whole contract runs against an endpoint that speaks as a server does (test_over_server.py). Here are always those
tests that the gateway itself could answer differently: values and their types, large and many rows, parameters, errors,
several at once. The rest, too: `TOOLSELECT_GATEWAY=whole`.
"""

from __future__ import annotations

import os

import pytest

from .alerts import AlertsContract
from .arrivals import ArrivalsContract
from .browse import BrowseContract
from .judged import JudgedContract
from .labels import LabelsContract
from .spans import SpansContract
from .suite import StoreContract


class _OverHttp:
    @pytest.fixture
    def dsn(self, gateway_place: tuple[str, str], database: str) -> str:
        url, token = gateway_place
        return f"clickhouse://anybody:{token}@{url.removeprefix('http://')}/{database}"

    store = StoreContract.store


class TestOverHttp(_OverHttp):
    test_types = SpansContract.test_all_types_of_attribute_values_come_back
    test_times = SpansContract.test_times_come_back_exactly
    test_large = SpansContract.test_a_large_batch_comes_back
    test_pages = SpansContract.test_traces_come_by_pages_of_bounded_size
    test_bound = SpansContract.test_filter_values_are_bound
    test_runs = JudgedContract.test_runs_round_trip
    test_verdicts = JudgedContract.test_verdicts_round_trip_and_replace
    test_replacing = JudgedContract.test_replacing_leaves_nothing_behind
    test_retention = StoreContract.test_retention_removes_what_is_older
    test_threads = StoreContract.test_threads_may_share_a_store
    test_writers = ArrivalsContract.test_writers_at_once_lose_no_arrival
    test_closed = StoreContract.test_closed_store_says_so
    test_labels = LabelsContract.test_labels_by_window_source_and_labeller
    test_leases = AlertsContract.test_one_of_several_holds_a_lease
    test_lists = BrowseContract.test_pages_join_in_both_directions
    test_search = BrowseContract.test_texts_and_beginnings_of_ids_are_found


if os.environ.get("TOOLSELECT_GATEWAY") == "whole":

    class TestWholeContractOverHttp(_OverHttp, StoreContract):
        pass
