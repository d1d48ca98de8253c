"""The gateway as such: who may ask, errors, codings. That it carries a store is the contract's matter."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import clickhouse_connect
import httpx
import pytest

from otel_toolselect.errors import EnvironmentProblem, StoreError
from otel_toolselect.store import RawEngine, open_store
from otel_toolselect.web.gateway import gateway_app
from otel_toolselect.web.lending import serving


@pytest.fixture
def http(gateway_place: tuple[str, str]) -> Any:
    url, token = gateway_place
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as client:
        yield client


@pytest.fixture
def ordinary(gateway_place: tuple[str, str]) -> Any:
    """clickhouse-connect's client for servers with its defaults, lz4 among them."""
    url, token = gateway_place
    with clickhouse_connect.get_client(
        host="127.0.0.1", port=int(url.rpartition(":")[2]), username="me", password=token
    ) as client:
        yield client


def test_ping_needs_no_token(gateway_place: tuple[str, str]) -> None:
    assert httpx.get(gateway_place[0] + "/ping").text == "Ok.\n"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer no"},
        {"Authorization": "Basic !!"},
        {"Authorization": "Basic bWU6bm8="},
        {"X-ClickHouse-Key": "é"},
    ],
)
def test_without_the_token_nothing_is_served(gateway_place: tuple[str, str], headers: dict[str, str]) -> None:
    answer = httpx.post(gateway_place[0], content=b"SELECT 1", headers={k: v.encode() for k, v in headers.items()})
    assert answer.status_code == 403
    assert answer.headers["X-ClickHouse-Exception-Code"] == "516"
    assert answer.text.startswith("Code: 516. DB::Exception: the token is wrong or missing")


def test_the_token_is_taken_in_every_way_that_clients_use(gateway_place: tuple[str, str]) -> None:
    url, token = gateway_place
    for headers, auth, query in (
        ({"X-ClickHouse-Key": token}, None, {}),
        ({}, ("anybody", token), {}),
        ({}, None, {"password": token}),
    ):
        answer = httpx.post(url, params=query, content=b"SELECT 1", headers=headers, auth=auth)
        assert (answer.status_code, answer.text) == (200, "1\n")


def ask(app: Any, body: bytes = b"SELECT 1", *, peer: str = "127.0.0.1", **headers: str) -> httpx.Response:
    """One request with the token "t" to an app that no server carries."""

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(peer, 5))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.post("/", content=body, headers={"Authorization": "Bearer t", **headers})

    return asyncio.run(send())


@pytest.mark.parametrize("peer", ["10.1.2.3", "192.168.0.1", "2001:db8::1", "unknown"])
def test_peers_from_elsewhere_are_refused(peer: str) -> None:
    answer = ask(gateway_app(_Nothing(), "t"), peer=peer)
    assert (answer.status_code, "only this machine" in answer.text) == (403, True)


def test_no_gateway_without_a_token() -> None:
    with pytest.raises(ValueError, match="token"):
        gateway_app(_Nothing(), "")


class _Nothing:
    def raw_query(self, sql: bytes, **how: Any) -> Any:
        raise StoreError("the embedded engine is closed", retryable=True)

    def timezone(self) -> str:
        return "UTC"

    def close(self) -> None: ...


def test_an_engine_that_is_away_is_503() -> None:
    engine: RawEngine = _Nothing()
    answer = ask(gateway_app(engine, "t"))
    assert (answer.status_code, answer.headers["X-ClickHouse-Exception-Code"]) == (503, "1002")


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [("SELEC 1", 400, "62"), ("SELECT * FROM nope", 404, "60"), ("SELECT throwIf(1)", 500, "395"), (" ", 400, "62")],
)
def test_errors_are_clickhouses(http: httpx.Client, sql: str, status: int, code: str) -> None:
    answer = http.post("/", content=sql)
    assert (answer.status_code, answer.headers["X-ClickHouse-Exception-Code"]) == (status, code)
    assert answer.text.startswith(f"Code: {code}. DB::Exception: ")


def test_get_reads_but_does_not_write(http: httpx.Client) -> None:
    assert http.get("/", params={"query": "-- why\nSELECT 1"}).text == "1\n"
    refused = http.get("/", params={"query": "CREATE TABLE x (a UInt8) ENGINE = Memory"})
    assert (refused.status_code, refused.headers["X-ClickHouse-Exception-Code"]) == (403, "164")


def test_parameters_settings_format_and_headers(http: httpx.Client) -> None:
    answer = http.post(
        "/",
        params={
            "query": "SELECT {a:Array(String)} AS a, getSetting('max_threads') AS t FORMAT JSONEachRow",
            "param_a": "['x\\'y']",
            "max_threads": "3",
            "query_id": "q1",
        },
    )
    assert answer.json() == {"a": ["x'y"], "t": 3}
    assert answer.headers["X-ClickHouse-Format"] == "JSONEachRow"
    assert answer.headers["X-ClickHouse-Query-Id"] == "q1"
    assert "X-ClickHouse-Timezone" in answer.headers
    left = http.post("/", params={"default_format": "CSV"}, content=b"SELECT getSetting('max_threads') = 3")
    assert left.text == "0\n"
    assert http.post("/", params={"no_such_setting": "1"}, content=b"SELECT 1").status_code == 400


def test_bodies_may_be_compressed(http: httpx.Client) -> None:
    answer = http.post("/", content=gzip.compress(b"SELECT 'x'"), headers={"Content-Encoding": "gzip"})
    assert answer.text == "x\n"
    for coding, body in (("br", b""), ("gzip", b"no"), ("lz4", b"no"), ("zstd", b"no")):
        refused = http.post("/", content=body + b"x", headers={"Content-Encoding": coding})
        assert (refused.status_code, refused.headers["X-ClickHouse-Exception-Code"]) == (400, "432")
    asked = http.post(
        "/", params={"enable_http_compression": "1"}, content=b"SELECT 'y'", headers={"Accept-Encoding": "br, gzip"}
    )
    assert (asked.headers["Content-Encoding"], asked.text) == ("gzip", "y\n")


def test_a_body_over_the_limit_is_refused_before_and_after_decompression() -> None:
    app = gateway_app(_Nothing(), "t", max_body_bytes=1500)
    for body, coding in ((b"x" * 1501, "identity"), (gzip.compress(b"x" * 10**6), "gzip")):
        assert ask(app, body, **{"Content-Encoding": coding}).status_code == 413


def test_the_ordinary_client_works(ordinary: Any) -> None:
    ordinary.command(
        "CREATE TABLE IF NOT EXISTS default.plain (a Int64, b Array(String)) ENGINE = MergeTree ORDER BY a"
    )
    columns = [f"c{n}" for n in range(32)]  # 32 columns: the first byte of a Native block is then a space
    ordinary.command(
        "CREATE TABLE IF NOT EXISTS default.wide (" + ", ".join(f"{c} UInt8" for c in columns) + ") ENGINE = Memory"
    )
    ordinary.insert("plain", [[n, ["x", "ü"]] for n in range(1000)], column_names=["a", "b"])
    ordinary.insert("wide", [list(range(32))], column_names=columns)
    assert ordinary.query("SELECT a, b FROM plain WHERE a > %(low)s", parameters={"low": 997}).result_rows == [
        (998, ["x", "ü"]),
        (999, ["x", "ü"]),
    ]
    # too long for an address: the client sends a form
    many = {"ids": list(range(5000))}
    assert ordinary.query("SELECT count() FROM plain WHERE a IN {ids:Array(Int64)}", parameters=many).result_rows == [
        (1000,)
    ]
    assert ordinary.query("SELECT * FROM wide").result_rows == [tuple(range(32))]
    assert ordinary.query("SELECT a FROM plain LIMIT 0").column_names == ("a",)
    assert ordinary.command("SELECT count() FROM plain") == 1000
    assert ordinary.query_arrow("SELECT a FROM plain ORDER BY a LIMIT 2").to_pydict() == {"a": [0, 1]}
    ordinary.command("TRUNCATE TABLE plain")
    ordinary.command("TRUNCATE TABLE wide")


def test_a_port_in_use_is_named(gateway_place: tuple[str, str]) -> None:
    port = int(gateway_place[0].rpartition(":")[2])
    with (
        pytest.raises(EnvironmentProblem, match=f"cannot listen on 127.0.0.1:{port}"),
        serving(_Nothing(), "t", port=port),
    ):
        pass


def test_a_wrong_token_is_a_store_error_that_says_what_to_do(gateway_place: tuple[str, str]) -> None:
    with pytest.raises(StoreError, match=r"refused the login.*check user and password") as caught:
        open_store(f"clickhouse://me:wrong@{gateway_place[0].removeprefix('http://')}/default")
    assert caught.value.retryable  # spans wait in the spool while somebody sets a rotated password right
    assert "wrong@" not in str(caught.value)
