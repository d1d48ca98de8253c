"""What the client for servers and a server make out with one another, seen at the server's end."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import clickhouse_connect
import httpx
import pytest
import trustme
from clickhouse_connect.driver.exceptions import DatabaseError

from otel_toolselect.errors import StoreError
from otel_toolselect.store import Store, open_store
from tests.store.builders import run, span
from tests.store.endpoint import Endpoint, User, endpoint
from tests.store.endpoint.engine import Engine
from tests.store.endpoint.faults import drop_after, exception_in_stream


@pytest.fixture
def store(server: Endpoint, database: str) -> Iterator[Store]:
    opened = open_store(server.dsn(database, "writer"))
    server.asked.clear()
    yield opened
    opened.close()


@pytest.fixture
def http(server: Endpoint) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://localhost:{server.port}", auth=("writer", "w:/p")) as client:
        yield client


def test_an_answer_is_awaited_to_its_end_before_it_is_called_good(store: Store, server: Endpoint) -> None:
    store.insert([span()], [])
    assert len(list(store.traces())) == 1
    reads = [a for a in server.asked if a.statement.gives_rows]
    assert reads
    assert all(a.flag("wait_end_of_query") for a in reads)


def test_no_session_so_that_statements_need_not_wait_for_one_another(store: Store, server: Endpoint) -> None:
    threads = [threading.Thread(target=store.overview) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {a.statement.session for a in server.asked} == {None}
    assert len({a.query["query_id"] for a in server.asked}) == len(server.asked)


def test_rows_go_compressed_to_a_server(store: Store, server: Endpoint) -> None:
    text = "the same words again and again " * 100
    store.insert([span(n, attributes={"text": text}) for n in range(50)], [])
    ((_, sent),) = [(a, a.statement.rows) for a in server.asked if a.statement.rows]
    assert sent is not None
    assert len(sent) < 50 * len(text) / 20
    assert sum(s.attributes["text"] == text for spans, _ in store.traces() for s in spans) == 50


def test_long_parameters_go_in_a_form(store: Store, server: Endpoint) -> None:
    ids = [f"{n:032x}" for n in range(400)]
    store.insert([span(trace_id=i) for i in ids], [])
    assert sorted(store.span_ids(ids)) == ids
    service = "x" * 20_000
    assert list(store.traces(service=service)) == []
    assert "param_service" not in server.asked[-1].query
    assert server.asked[-1].statement.params["service"] == service


@pytest.mark.parametrize("coding", ["zstd", "lz4", "gzip", "deflate"])
def test_codings_both_ways(http: httpx.Client, coding: str) -> None:
    from tests.store.endpoint.request import decoded, encoded

    asked = encoded(b"SELECT number FROM numbers(10000)", coding)
    codings = {"Content-Encoding": coding, "Accept-Encoding": coding}
    with http.stream("POST", "/?enable_http_compression=1", content=asked, headers=codings) as answer:
        body = b"".join(answer.iter_raw())
    assert answer.headers["Content-Encoding"] == coding
    assert decoded(body, coding).splitlines()[-1] == b"9999"
    plain = http.post("/?enable_http_compression=0", content=b"SELECT 1", headers={"Accept-Encoding": coding})
    assert ("Content-Encoding" in plain.headers, plain.content) == (False, b"1\n")


@pytest.mark.parametrize("compress", ["zstd", "lz4", "gzip", True, False])
def test_clickhouse_connect_speaks_with_it(server: Endpoint, database: str, compress: bool | str) -> None:
    with clickhouse_connect.get_client(
        host="localhost", port=server.port, username="writer", password="w:/p", database=database, compress=compress
    ) as client:
        client.command("CREATE TABLE t (a UInt64, b String) ENGINE = MergeTree ORDER BY a")
        client.insert("t", [[n, f"; {n}"] for n in range(3000)], column_names=["a", "b"])
        assert client.query("SELECT sum(a), uniq(b) FROM t").result_rows == [(4498500, 3000)]
        assert client.query("SELECT b FROM t WHERE a = {a:UInt64}", parameters={"a": 7}).result_rows == [("; 7",)]
        client.command("CREATE TEMPORARY TABLE mine (a UInt8)")  # held by its session
        assert client.query("SELECT count() FROM mine").result_rows == [(0,)]
        client.command("SET max_threads = 1")
        assert client.command("SELECT getSetting('max_threads')") == 1
        assert client.command("SELECT getSetting('max_block_size')", settings={"max_block_size": 99}) == 99
        assert client.ping()
        server.faults.next(exception_in_stream(395, "boom", share=0.2), on="numbers(90000)")
        with (
            pytest.raises(DatabaseError, match=r"boom|closed by server"),  # with lz4 the text is lost
            client.query_row_block_stream("SELECT number FROM numbers(90000)") as rows,
        ):
            list(rows)
        client.command("DROP TABLE t")


def test_a_session_takes_one_statement_at_a_time_and_is_found_or_not(http: httpx.Client, server: Endpoint) -> None:
    held = server.engine._session("busy", must_exist=False)[1]
    with held:
        locked = http.post("/?session_id=busy", content=b"SELECT 1")
    assert (locked.status_code, locked.headers["X-ClickHouse-Exception-Code"]) == (500, "373")
    assert http.post("/?session_id=busy&session_check=1", content=b"SELECT 1").text == "1\n"
    missing = http.post("/?session_id=none&session_check=1", content=b"SELECT 1")
    assert missing.headers["X-ClickHouse-Exception-Code"] == "372"


@pytest.mark.parametrize(
    ("headers", "query", "code"),
    [
        ({"X-ClickHouse-User": "writer", "X-ClickHouse-Key": "w:/p"}, {}, None),
        ({}, {"user": "writer", "password": "w:/p"}, None),
        ({}, {}, "194"),
        ({"X-ClickHouse-User": "writer", "X-ClickHouse-Key": "no"}, {}, "516"),
        ({"X-ClickHouse-User": "writer", "X-ClickHouse-Key": "w:/p"}, {"user": "writer"}, "516"),
        ({"Authorization": "Basic !"}, {}, "516"),
    ],
)
def test_who_asks(server: Endpoint, headers: dict[str, str], query: dict[str, str], code: str | None) -> None:
    url = f"http://localhost:{server.port}/"
    answer = httpx.post(url, params=query, content=b"SELECT 1", headers=headers)
    assert answer.headers.get("X-ClickHouse-Exception-Code") == code
    assert (answer.text == "1\n") == (code is None)


def test_get_reads_and_does_not_write(http: httpx.Client) -> None:
    assert http.get("/", params={"query": "SELECT 1"}).text == "1\n"
    refused = http.get("/", params={"query": "CREATE TABLE x (a UInt8) ENGINE = Memory"})
    assert refused.headers["X-ClickHouse-Exception-Code"] == "164"


def test_who_may_only_read_reads(store: Store, server: Endpoint, database: str) -> None:
    store.insert([span()], [])
    store.write_runs([run()])
    reader = open_store(server.dsn(database, "reader"), create=False)
    try:
        assert len(list(reader.traces())) == len(list(reader.runs())) == reader.overview().spans == 1
        with pytest.raises(StoreError, match="readonly mode"):
            reader.insert([span(2)], [])
    finally:
        reader.close()
    assert store.overview().spans == 1


def test_a_wrong_password_is_said_without_it(server: Endpoint, database: str) -> None:
    dsn = server.dsn(database, "writer").replace("w%3A%2Fp", "wrongword")
    with pytest.raises(StoreError, match="refused the login") as caught:
        open_store(dsn)
    assert (caught.value.retryable, "wrongword" in str(caught.value)) == (True, False)


def test_over_tls(engine: Engine, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with endpoint(engine, [User(password="p")], tls=context) as running:
        with pytest.raises(StoreError, match=r"out of reach.*certificate verify failed"):
            open_store(running.dsn(database))
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        opened = open_store(running.dsn(database))
        try:
            running.faults.next(drop_after(), on="INSERT")
            opened.insert([span()], [])
            assert len(list(opened.traces())) == 1
            assert running.faults.sent
        finally:
            opened.close()
        plain = running.dsn(database).replace("clickhouses:", "clickhouse:")
        with pytest.raises(StoreError, match="out of reach"):
            open_store(plain)
