"""The same contract with the client for servers, over HTTP to a real engine behind the gateway."""

import pytest

from .suite import StoreContract


class TestOverHttp(StoreContract):
    @pytest.fixture
    def dsn(self, http_dsn: str) -> str:
        return http_dsn
