"""How a running `serve` tells other processes that it holds an embedded store: one small file in its directory.

The file holds a secret (the gateway's token), so it is readable by its owner only. It may be stale after a crash:
readers check that somebody answers before they believe it (design section 8: never a lock error).
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

SERVE_INFO_NAME = "toolselect-serve.json"


@dataclass(frozen=True, slots=True)
class ServeInfo:
    """`url` is where the gateway answers, `token` its password, `started` a Unix time in seconds."""

    pid: int
    url: str
    token: str = field(repr=False)
    started: float

    @property
    def address(self) -> str:
        """Host and port, as shown to a user."""
        return urlsplit(self.url).netloc

    @property
    def alive(self) -> bool:
        """Whether a process of that id exists; it may be another program by now."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            return isinstance(self.pid, int)
        return True


def write_serve_info(
    directory: str | os.PathLike[str], *, url: str, token: str, pid: int | None = None, started: float | None = None
) -> Path:
    """Write the file atomically with mode 0600, replacing what was there; returns its path."""
    path = Path(directory) / SERVE_INFO_NAME
    info = {
        "pid": os.getpid() if pid is None else pid,
        "url": url,
        "token": token,
        "started": time.time() if started is None else started,
    }
    draft = path.with_name(f".{SERVE_INFO_NAME}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    # O_EXCL with the mode: at no moment can another user read the token
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(info, file)
    draft.replace(path)
    return path


def read_serve_info(directory: str | os.PathLike[str]) -> ServeInfo | None:
    """What the file says, None when there is none or it is not readable as such."""
    try:
        raw = json.loads((Path(directory) / SERVE_INFO_NAME).read_text(encoding="utf-8"))
        return ServeInfo(int(raw["pid"]), str(raw["url"]), str(raw["token"]), float(raw["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove_serve_info(directory: str | os.PathLike[str]) -> None:
    """Remove the file; fine when it is not there."""
    (Path(directory) / SERVE_INFO_NAME).unlink(missing_ok=True)
