"""File: JSON lines at the end of a file, for what collects files, and for tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_toolselect.errors import NotifyError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.monitor.notifiers._options import Options
from otel_toolselect.monitor.notifiers._texts import lines

_FOR_GOOD = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)


@dataclass(frozen=True, slots=True)
class File:
    """The file is opened for each batch, so that it may be moved away in between. On disk when `send` returns."""

    name: str
    path: Path

    def send(self, notifications: Sequence[Notification]) -> None:
        try:
            with self.path.open("ab+") as file:
                file.write(_mended(self.path) + lines(notifications).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise NotifyError(
                f"cannot write the file: {error.strerror}", retryable=not isinstance(error, _FOR_GOOD)
            ) from error

    def close(self) -> None:
        pass


def _mended(path: Path) -> bytes:
    """The end of a line that a crash cut off, so that it spoils no other."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"


class _Kind:
    name = "file"

    def make(self, name: str, options: Mapping[str, Any]) -> File:
        given = Options(options)
        made = File(name, Path(given.needed("path", '"notifications.jsonl"')))
        given.done()
        return made


PLUGIN = _Kind()
