"""The same contract with the client for servers, over HTTP to a real engine behind the gateway."""

import pytest

from .suite import StoreContract


class TestOverHttp(StoreContract):
    @pytest.fixture
    def dsn(self, gateway_place: tuple[str, str], database: str) -> str:
        url, token = gateway_place
        return f"clickhouse://anybody:{token}@{url.removeprefix('http://')}/{database}"
