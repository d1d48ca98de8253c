"""Importers: a file of another tool -> a suite. One file each in `importers/`, found by scanning and entry points.

An importer gets a `Source`, the file read and decompressed, and asks it for what it needs: one JSON value, JSON lines,
or YAML. What it cannot carry over it says in `Imported.notes`; what is broken it raises as InputError with a place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from otel_toolselect import registry
from otel_toolselect.errors import DecodeError, InputError, TooLargeError, UsageError
from otel_toolselect.otlp.compress import coding_of, decompress
from otel_toolselect.rules.plain import read_plain
from otel_toolselect.rules.problems import suggest
from otel_toolselect.suites.document import Imported

IMPORTERS_PACKAGE = "otel_toolselect.suites.importers"
MAX_BYTES = 256 * 1024 * 1024  # after decompression; a suite of 10,000 cases has 20 MB
Progress = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Source:
    """One input file. `where` names it in messages; `stem` is its name without endings."""

    where: str
    stem: str
    text: str
    step: Progress = lambda: None

    def lines(self) -> Iterator[tuple[str, Any]]:
        """(place, value) of each JSON line, or of each element when the whole is one JSON list."""
        if self.text.lstrip()[:1] == "[":
            values = self.whole()
            for i, value in enumerate(values if isinstance(values, list) else []):
                self.step()
                yield f"{self.where}[{i}]", value
            return
        yield from self.by_line()

    def by_line(self) -> Iterator[tuple[str, Any]]:
        """(place, value) of each JSON line, whatever it is."""
        for number, line in enumerate(self.text.split("\n"), start=1):
            if line.strip():
                self.step()
                place = f"{self.where}:{number}"
                yield place, _decoded(line, place)

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """`lines` that must be objects."""
        for place, value in self.lines():
            if not isinstance(value, dict):
                raise InputError("must be a JSON object, one case", where=place)
            yield place, value

    def whole(self) -> Any:
        """The file as one JSON value."""
        return _decoded(self.text, self.where)

    def plain(self) -> Any:
        """The file as one YAML (or JSON) value."""
        return read_plain(self.text, path=self.where)


class Importer(Protocol):
    """`name` is the KIND on the command line; `about` one line of help."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def read(self, source: Source) -> Imported: ...


@cache
def importers() -> Mapping[str, Importer]:
    return cast("Mapping[str, Importer]", registry.discover(IMPORTERS_PACKAGE))


def read_suite(kind: str, path: str, *, step: Progress = lambda: None) -> Imported:
    """Imports one file. `step` is called after each record. Raises UsageError, InputError."""
    importer = importers().get(kind)
    if importer is None:
        raise UsageError(f"unknown kind {kind!r}: {suggest(kind, importers())}".rstrip(": "))
    found = importer.read(open_source(path, step))
    if not found.cases:
        raise InputError(f"holds no case that {kind} knows", where=path)
    return found


def open_source(path: str, step: Progress = lambda: None) -> Source:
    """The file, decompressed within limits, as text."""
    name = Path(path).name
    stem = name.split(".")[0] or name
    try:
        body = Path(path).read_bytes()
        text = decompress(body, coding_of(body[:8]) or "identity", MAX_BYTES).decode("utf-8-sig")
    except (DecodeError, TooLargeError) as error:
        raise type(error)(error.bare, where=path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", where=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=path) from error
    return Source(path, stem, text, step)


def _decoded(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        said = f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise InputError(said, where=place) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not readable JSON: {error}", where=place) from error
