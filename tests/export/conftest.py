"""One embedded engine per test module, a fresh database per test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_toolselect.store import Store, open_store

_names = itertools.count()


@pytest.fixture(scope="module")
def engine_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("chdb")
    holder = open_store(f"chdb://{home}", create=False)
    yield home
    holder.close()


@pytest.fixture
def store(engine_home: Path) -> Iterator[Store]:
    opened = open_store(f"chdb://{engine_home}?database=x{next(_names)}")
    yield opened
    opened.close()
