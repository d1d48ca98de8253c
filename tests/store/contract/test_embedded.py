"""The contract with the engine in this process."""

from pathlib import Path

import pytest

from .suite import StoreContract


class TestEmbedded(StoreContract):
    @pytest.fixture
    def dsn(self, engine_home: Path, database: str) -> str:
        return f"chdb://{engine_home}?database={database}"
