"""The same contract with the client for servers, against what a server is on the wire (tests/store/endpoint)."""

import pytest

from tests.store.endpoint import Endpoint

from .suite import StoreContract


class TestOverServer(StoreContract):
    @pytest.fixture
    def dsn(self, server: Endpoint, database: str) -> str:
        return server.dsn(database, "writer")
