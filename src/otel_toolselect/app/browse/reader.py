"""For whom and when something is read: what every function of this package is given first."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from otel_toolselect.config import Settings

if TYPE_CHECKING:
    from otel_toolselect.store import Store


@dataclass(frozen=True, slots=True)
class Reader:
    """`tenant`: the only tenant whose data may be read (`Sender.tenant`), None for all: the one place where it is
    given. `now_ns`: what `24h` counts back from.
    """

    store: Store
    tenant: str | None
    settings: Settings = field(default_factory=Settings)
    now_ns: int = field(default_factory=time.time_ns)
