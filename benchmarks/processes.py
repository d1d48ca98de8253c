"""Processor time and memory of a process and all its descendants, as Linux counts them in /proc."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_CALM_S, _CALM_SHARE = 0.5, 0.04


def tree(pid: int) -> list[int]:
    """The process and its descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for member in found:
        found += children.get(member, [])
    return found


def _stat(pid: int) -> list[str]:
    """The fields behind the name, which may hold anything: state first, parent second (proc(5))."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # ended meanwhile
        return []
    return text[text.rindex(")") + 2 :].split()


def cpu_s(pid: int) -> float:
    """User and system seconds of the tree so far, children that ended and were waited for included."""
    return sum(sum(map(int, fields[11:15])) for member in tree(pid) if (fields := _stat(member))) / _TICKS


def peak_mb(pid: int) -> float:
    """The sum over the tree of each process's own highest resident size, 10^6 bytes: at least the tree's peak."""
    total = 0
    for member in tree(pid):
        try:
            status = Path(f"/proc/{member}/status").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
    return total / 1e6


def wait_until_calm(pid: int, timeout_s: float) -> None:
    """Returns when the tree uses almost no processor time any more (merges in the background are done), or in time."""
    end, before = time.monotonic() + timeout_s, cpu_s(pid)
    while time.monotonic() < end:
        time.sleep(_CALM_S)
        now = cpu_s(pid)
        if now - before < _CALM_S * _CALM_SHARE:
            return
        before = now
