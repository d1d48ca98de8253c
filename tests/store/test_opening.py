from __future__ import annotations

import os

import pytest

from otel_toolselect.errors import StoreError, UsageError
from otel_toolselect.store import open_store
from otel_toolselect.store.dsn import Embedded, Remote, parse
from otel_toolselect.store.faults import brief, fault

HERE = os.path.realpath(".")


@pytest.mark.parametrize(
    ("dsn", "place"),
    [
        ("chdb:///data/x", Embedded("/data/x", "default")),
        ("chdb://./x", Embedded(f"{HERE}/x", "default")),
        ("chdb://x/y?database=d", Embedded(f"{HERE}/x/y", "d")),
        ("chdb:///a%20b/", Embedded("/a b", "default")),
        ("./x/../y", Embedded(f"{HERE}/y", "default")),
        ("clickhouse://h", Remote("h", 8123, "default")),
        ("clickhouse://u:p%40s@h:9/db", Remote("h", 9, "db", user="u", password="p@s")),
        ("clickhouses://h/db", Remote("h", 8443, "db", secure=True)),
        ("clickhouse://[::1]:8123/", Remote("::1", 8123, "default")),
    ],
)
def test_dsn_forms(dsn: str, place: Embedded | Remote) -> None:
    assert parse(dsn) == place


@pytest.mark.parametrize(
    "dsn", ["", "chdb://", "chdb:///", "mysql://h", "clickhouse://", "clickhouse://h:x/db", "clickhouse://h/a/b"]
)
def test_a_wrong_dsn_says_which_are_right(dsn: str) -> None:
    with pytest.raises(UsageError, match=r"chdb:///dir|clickhouse://user|port"):
        parse(dsn)


def test_passwords_are_not_shown() -> None:
    place = parse("clickhouse://u:secret@h/db")
    assert isinstance(place, Remote)
    assert place.shown == "clickhouse://h:8123/db"
    assert "secret" not in repr(place)


def test_a_server_out_of_reach_says_what_to_do() -> None:
    with pytest.raises(
        StoreError, match=r"clickhouse://127.0.0.1:9/default is out of reach: Connection refused; check that it runs"
    ) as e:
        open_store("clickhouse://u:secret@127.0.0.1:9")
    assert e.value.retryable
    assert "secret" not in str(e.value)


@pytest.mark.parametrize(
    ("text", "retryable"),
    [
        ("Code: 252. DB::Exception: Too many parts. (TOO_MANY_PARTS)", True),
        ("Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)", True),
        ("Code: 243. DB::Exception: Cannot reserve 1.00 MiB. (NOT_ENOUGH_SPACE)", True),
        # the store as a whole is wrong: requests must not go to the dead letters for it
        ("Received ClickHouse exception, code: 60, server response: x", True),
        ("Code: 516. DB::Exception: no", True),
        ("Received ClickHouse exception, code: 53, server response: x", False),
        ("Connection refused", True),
    ],
)
def test_which_errors_may_be_tried_again(text: str, retryable: bool) -> None:
    assert fault(Exception(text), "here").retryable is retryable


def test_error_texts_are_short_and_without_the_clients_additions() -> None:
    assert brief("Code: 60.\n no  table (version 26.9.2.1 (official build)) (for url http://h)") == "Code: 60. no table"
    assert len(brief("x" * 10_000)) < 700


def test_importing_the_package_loads_no_engine() -> None:
    import subprocess
    import sys

    code = (
        "import sys, otel_toolselect.store;"
        "print(sorted({'chdb', 'clickhouse_connect', 'pyarrow', 'pandas', 'starlette'} & sys.modules.keys()))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
