import pytest

from .suite import StoreContract


class TestEmbedded(StoreContract):
    @pytest.fixture
    def dsn(self, embedded_dsn: str) -> str:
        return embedded_dsn
