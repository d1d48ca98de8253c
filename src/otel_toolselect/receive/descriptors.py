"""Open files: so many sockets and no more, so that spool and store can always open theirs."""

from __future__ import annotations

import sys

_KEPT = 512
"""For the spool, the store and everything else."""


def room_for(connections: int) -> int:
    """How many connections of one of two ports there may be, at most `connections`; raises the process's soft limit."""
    if sys.platform == "win32":
        return connections
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * connections + _KEPT
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return connections
    return max(1, min(connections, (soft - _KEPT) // 2 if soft > 2 * _KEPT else soft // 4))
