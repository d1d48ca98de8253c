"""How a process that runs for long, with spans by the thousand in hand, keeps house."""

from __future__ import annotations

import gc
import os
import sys
from importlib.abc import MetaPathFinder


def keep_house() -> None:
    """For a process whose event loop answers senders while other threads store and judge. Before its work begins."""
    _collect_seldom()
    # the lock that all threads share goes from hand to hand about six times before a request is acknowledged, and
    # who wants it from a thread that is busy waits this long each time; by default that is 5 ms
    sys.setswitchinterval(0.001)


def _collect_seldom() -> None:
    """Spans come and go by reference counting; looking for cycles among them every 700 objects costs a third of all
    that is done with them. Looking even less often would let stops and memory grow, as a request leaves some objects in
    cycles. What is loaded by now stays and is never looked at again.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


class _WithoutDataFrames(MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("this process makes no data frames", name=name)


def without_data_frames() -> None:
    """Arrow looks for pandas when it makes its first column: where that is installed it takes 40 MB and 0.1 s, for
    nothing in a process that makes no data frame. For processes of our own, before the first column.
    """
    sys.meta_path.insert(0, _WithoutDataFrames())


def without_lines_of_grpc() -> None:
    """The core of grpc writes a line of its own on stderr for every handshake that fails, so any stranger could fill
    the log. Before grpc is loaded.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
