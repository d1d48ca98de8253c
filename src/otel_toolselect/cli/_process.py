"""How a process that runs for long, with spans by the thousand in hand, keeps house."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Spans come and go by reference counting; looking for cycles among them every 700 objects costs a third of all
    that is done with them. What is loaded by now stays and is never looked at again.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
