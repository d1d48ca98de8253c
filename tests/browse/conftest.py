"""Stores of one engine; in `known` everything happened that lists must cope with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_toolselect.store import Store, open_store
from tests.browse.history import History, written


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory whose engine stays open for the module."""
    home = tmp_path_factory.mktemp("browse")
    holder = open_store(f"chdb://{home}", create=False)
    yield home
    holder.close()


@pytest.fixture(scope="module")
def known(home: Path) -> Iterator[tuple[Store, History]]:
    store = open_store(f"chdb://{home}?database=known")
    yield store, written(store)
    store.close()
