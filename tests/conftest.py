"""What holds for all tests.

Properties are not timed, as the machine that runs them may be busy. They try the same examples in every run, so that a
run's outcome says something about the change it tests; `make explore` looks for new ones.

What is done for speed, none of which a test can see: processes that tests start keep what they compiled for the next
one; the garbage collector leaves alone what was loaded before the first test, and looks for cycles as seldom as in
`serve`; and as tests that start processes wait for a third of their time, there are more workers than cores.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile("steady")

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """For `-n auto`, which says how many cores there are."""
    cores = yield
    return cores + cores // 2
