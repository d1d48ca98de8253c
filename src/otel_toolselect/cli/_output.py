"""Where things are written: results to stdout or a file, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from otel_toolselect.errors import EnvironmentProblem

PIPE_WIDTH = 110


def say(message: str) -> None:
    """Progress, notes, warnings."""
    print(f"toolselect: {message}", file=sys.stderr, flush=True)


def wants_colour(output: str | None) -> bool:
    """Colours only where a person looks: a terminal, unless NO_COLOR or a dumb terminal asks for none."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return output is None and sys.stdout.isatty() and not plain


def width(output: str | None) -> int:
    """Columns to fill: the terminal's, or a fixed number so that a file looks the same wherever it was
    made.
    """
    if output is None and sys.stdout.isatty():
        return shutil.get_terminal_size((PIPE_WIDTH, 40)).columns
    return PIPE_WIDTH


def write(parts: Iterable[str], output: str | None) -> None:
    """Writes a result as UTF-8 whatever the locale. A lone surrogate is written as its escape, which in JSON
    is its very spelling. A file appears only once it is complete.
    """
    if output is None:
        _to_stdout(parts)
        return
    target = Path(output)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():  # /dev/stdout, a named pipe
            with target.open("wb") as file:
                file.writelines(map(encoded, parts))
            return
        with draft.open("wb") as file:
            file.writelines(map(encoded, parts))
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise EnvironmentProblem(f"cannot write {output}: {error.strerror or error}") from error


def _to_stdout(parts: Iterable[str]) -> None:
    """When the reader has seen enough (`| head`) the rest is dropped without a word; the exit code stays the
    command's.
    """
    try:
        sys.stdout.flush()
        for part in parts:
            sys.stdout.buffer.write(encoded(part))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # or the interpreter's last flush would complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
