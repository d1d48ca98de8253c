"""Reading the dead-letter folder, which a running receiver may be writing to at the same time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from otel_toolselect.errors import EnvironmentProblem, InputError
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.replies import Encoding
from otel_toolselect.receive.deadletters import ENDINGS, REASON, TORN, sync_folder
from otel_toolselect.receive.records import Request

_ENCODINGS = {ending: cast(Encoding, encoding) for encoding, ending in ENDINGS.items()}


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter. `path`: its body; where only a digest was kept of it, the note. `when`: Unix time in seconds.
    `size`: bytes of the body. `signal`: traces, logs, or "" for bytes of a damaged spool segment, which are no request.
    `acknowledged`: its sender was told that it is kept; else it was told why it is refused.
    """

    path: Path
    when: float
    signal: str
    size: int
    reason: str
    acknowledged: bool
    tenant: str = ""

    @property
    def id(self) -> str:
        return self.path.name.removesuffix(REASON) if self._digest_only else self.path.stem

    @property
    def _digest_only(self) -> bool:
        return self.path.name.endswith(REASON)

    def request(self) -> Request:
        """The request in it. Raises InputError when it is none or cannot be read."""
        if self._digest_only:
            raise InputError("only a digest was kept of it, as redaction is on; drop it", where=self.id)
        if self.path.suffix not in _ENCODINGS or self.signal not in ("traces", "logs"):
            raise InputError("these are damaged bytes of the spool, no request; drop them", where=self.id)
        try:
            return Request(cast(Signal, self.signal), _ENCODINGS[self.path.suffix], self.path.read_bytes())
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=self.id) from error

    def remove(self) -> None:
        """Gone for good on return; fine when somebody else removed it. Raises EnvironmentProblem."""
        try:
            self.path.unlink(missing_ok=True)
            if not self._digest_only:
                _note(self.path).unlink(missing_ok=True)
            sync_folder(self.path.parent)
        except OSError as error:
            raise EnvironmentProblem(f"the dead letter {self.path} cannot be removed: {error.strerror}") from error


def letters(folder: Path) -> Iterator[Letter]:
    """All of them, the oldest first. Raises EnvironmentProblem when the folder cannot be read."""
    try:
        names = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return
    except OSError as error:
        raise EnvironmentProblem(f"the dead letters in {folder} cannot be read: {error.strerror}") from error
    bodies = {name for name in names if name.endswith((*_ENCODINGS, TORN)) and not name.endswith(REASON)}
    notes = {name for name in names if name.endswith(REASON)} - {_note(folder / name).name for name in bodies}
    found = [_with_body(folder / name) for name in bodies] + [_digest(folder / name) for name in notes]
    yield from sorted((x for x in found if x is not None), key=lambda letter: (letter.when, letter.id))


def _with_body(path: Path) -> Letter | None:
    """None when it is gone meanwhile."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _letter(path, _read(_note(path)), status.st_size, status.st_mtime)


def _digest(path: Path) -> Letter | None:
    """A note alone: of a body that must not be kept; or of a letter that is being written, which is none yet."""
    about = _read(path)
    return _letter(path, about, int(about.get("bytes", 0)), 0.0) if "digest" in about else None


def _letter(path: Path, about: dict[str, Any], size: int, when: float) -> Letter:
    return Letter(
        path,
        when=float(about.get("time", when)),
        signal=str(about.get("signal", "")),
        size=size,
        reason=str(about.get("reason", "its reason file is missing or cannot be read")),
        acknowledged=about.get("acknowledged") is True,
        tenant=str(about.get("tenant", "")),
    )


def _read(note: Path) -> dict[str, Any]:
    try:
        found = json.loads(note.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _note(body: Path) -> Path:
    return body.with_suffix(REASON)
