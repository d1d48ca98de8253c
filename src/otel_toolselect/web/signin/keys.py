"""The key that signs sessions and forms: of the environment, or kept in a file beside the spool."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from otel_toolselect.errors import EnvironmentProblem, UsageError

FILE_NAME = "session-key"
LEAST = 32


def session_key(folder: Path, given: str = "") -> bytes:
    """`given` is that of the settings. Otherwise that of the file, which is made on the first start.

    Raises UsageError for a key that is too short, EnvironmentProblem when the file cannot be read, made or trusted.
    """
    if given:
        if len(given) < LEAST:
            raise UsageError(
                f"TOOLSELECT_WEB_SESSION_KEY has {len(given)} characters, {LEAST} are the least: openssl rand -hex 32"
            )
        return given.encode("utf-8", "surrogateescape")
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make(path)
        mode = path.stat().st_mode
        key = path.read_bytes().strip()
    except OSError as error:
        raise EnvironmentProblem(f"the key of sessions at {path} cannot be used: {error.strerror}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise EnvironmentProblem(f"{path} can be read by others than its owner: chmod 600 {path}")
    if len(key) < LEAST:
        raise EnvironmentProblem(f"{path} holds no key: remove it, a new one is made (everybody signs in anew)")
    return key


def _make(path: Path) -> None:
    """Atomically: of two processes that start at once one makes it, and nobody reads half of it."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, secrets.token_hex(LEAST).encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # the other one was first
    finally:
        draft.unlink()
