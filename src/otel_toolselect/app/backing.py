"""What services on the ports of `serve` stand on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect.config import Settings

if TYPE_CHECKING:
    from otel_toolselect.judge.panel import Panel
    from otel_toolselect.store import Store


@dataclass(frozen=True, slots=True)
class Backing:
    """`panel`: the suites and rule files in force, None when nothing is judged here. `settle` returns when everything
    that was acknowledged before is in the store, or after a while. Both may be called from any thread.
    """

    store: Store
    settings: Settings
    panel: Callable[[], Panel | None]
    settle: Callable[[], None]
