"""One embedded engine per test module (chDB: one directory per process), a fresh database per test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_toolselect.store import Store, open_store
from otel_toolselect.web.gateway import new_token
from otel_toolselect.web.lending import serving

from .databases import Databases
from .endpoint import Endpoint, User, endpoint
from .endpoint.engine import Engine

_names = itertools.count()


@pytest.fixture(scope="module")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory whose engine stays open for the module, so that opening a database in it is cheap."""
    home = tmp_path_factory.mktemp("chdb")
    holder = open_store(f"chdb://{home}", create=False)
    yield home
    holder.close()


@pytest.fixture
def embedded_dsn(engine_home: Path) -> str:
    return f"chdb://{engine_home}?database=t{next(_names)}"


@pytest.fixture(scope="module")
def databases(engine_home: Path) -> Iterator[Databases]:
    found = Databases(engine_home)
    yield found
    found.close()


@pytest.fixture
def database(databases: Databases) -> Iterator[str]:
    """The name of a database of the engine that is migrated and empty."""
    with databases.lent() as name:
        yield name


@pytest.fixture(scope="module")
def gateway_place(engine_home: Path) -> Iterator[tuple[str, str]]:
    """Address and token of a gateway to the real engine."""
    with_engine = open_store(f"chdb://{engine_home}", create=False)
    engine = with_engine.raw_engine()
    assert engine is not None
    token = new_token()
    with serving(engine, token) as url:
        yield url, token
    engine.close()
    with_engine.close()


@pytest.fixture
def http_dsn(gateway_place: tuple[str, str]) -> str:
    url, token = gateway_place
    return f"clickhouse://anybody:{token}@{url.removeprefix('http://')}/t{next(_names)}"


@pytest.fixture(scope="module")
def engine(databases: Databases, engine_home: Path) -> Iterator[Engine]:
    found = Engine(str(engine_home))
    yield found
    found.close()


@pytest.fixture(scope="module")
def endpoint_of_module(engine: Engine) -> Iterator[Endpoint]:
    """What ClickHouse is on the wire, in front of the engine."""
    with endpoint(engine, [User("writer", "w:/p"), User("reader", "r", 2), User("onlooker", "o", 1)]) as running:
        yield running


@pytest.fixture
def server(endpoint_of_module: Endpoint) -> Iterator[Endpoint]:
    """The same, without faults."""
    endpoint_of_module.asked.clear()
    yield endpoint_of_module
    endpoint_of_module.faults.none()
    endpoint_of_module.faults.sent.clear()


@pytest.fixture
def store(embedded_dsn: str) -> Iterator[Store]:
    """An embedded store in a fresh database."""
    opened = open_store(embedded_dsn)
    yield opened
    opened.close()
