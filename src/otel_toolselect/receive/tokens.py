"""The file of tokens: who may send or read, as whom, and how much.

    [[token]]
    name = "team-a"                                  # in metrics and logs; the token itself never is
    token = "..."                                    # or sha256 = "..." of it, in hex
    certificate = "agents.team-a.example"            # or besides: common name or alternative name of the client's
    scopes = ["send"]                                # the default; "read" opens metrics, pages and the read API,
                                                     # "label" says what was right, "admin" silences and signs off
    attributes = {"toolselect.tenant" = "team-a"}    # stamped on the resource of all that it sends
    spans_per_second = 500                           # quotas: spans and log records, bytes after inflating
    bytes_per_second = 2_000_000
    burst_seconds = 10                               # how much may come at once after a pause

An entry holds for who presents everything that it names: with a token and a certificate, both.
"""

from __future__ import annotations

import hashlib
import logging
import re
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from otel_toolselect.errors import InputError

log = logging.getLogger(__name__)

SCOPES = ("send", "read", "label", "admin")
BURST_SECONDS = 10.0
_HEAD = re.compile(r"\s*\[\[\s*token\s*\]\]")
_OPEN_TO_OTHERS = stat.S_IRWXO | stat.S_IWGRP  # a group may read: that is how secrets are mounted in Kubernetes
_NAME = re.compile(r"[\w.@/:-][\w.@/: -]{0,63}")


@dataclass(frozen=True, slots=True)
class Quota:
    """What one sender may send a second, on average; None: as much as it likes."""

    spans_per_second: float | None = None
    bytes_per_second: float | None = None
    burst_seconds: float = BURST_SECONDS

    @property
    def limited(self) -> bool:
        return self.spans_per_second is not None or self.bytes_per_second is not None


UNLIMITED = Quota()


@dataclass(frozen=True, slots=True)
class Entry:
    """One sender or reader of the file. `digest`: SHA-256 of its token, None when a certificate is enough."""

    name: str
    digest: bytes | None = field(repr=False)
    certificate: str = ""
    scopes: frozenset[str] = frozenset({"send"})
    attributes: Mapping[str, str] = field(default_factory=dict)
    quota: Quota = UNLIMITED


def digest_of(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def read_tokens(path: Path) -> tuple[Entry, ...]:
    """Raises InputError with every mistake: file, line, field. Never shows a token."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(path.stat().st_mode)
            text = file.read().decode("utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read the tokens: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise InputError("cannot read the tokens: not UTF-8 text", where=str(path)) from None
    except tomllib.TOMLDecodeError as error:  # its text has line and column, and no more of the content than a name
        raise InputError(f"cannot read the tokens: {error}", where=str(path)) from None
    problems: list[str] = []
    entries = _entries(document, _Lines(path, text), problems)
    if problems:
        raise InputError("\n".join(problems), where="")
    if mode & _OPEN_TO_OTHERS:
        log.warning("%s can be read by every user of this machine: chmod 600 %s", path, path)
    return entries


class _Lines:
    """Where an entry and its fields stand; tomllib does not tell."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._heads = [n for n, line in enumerate(self._lines) if _HEAD.match(line)]

    def of(self, index: int, name: str = "") -> str:
        if index >= len(self._heads):
            return f"{self._path}: token[{index}]{'.' * bool(name)}{name}"
        start = self._heads[index]
        end = self._heads[index + 1] if index + 1 < len(self._heads) else len(self._lines)
        field_line = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=")
        at = next((n for n in range(start, end) if name and field_line.match(self._lines[n])), start)
        return f"{self._path}:{at + 1}: token[{index}]{'.' * bool(name)}{name}"


def _entries(document: Mapping[str, Any], lines: _Lines, problems: list[str]) -> tuple[Entry, ...]:
    tables = document.get("token")
    unknown = [key for key in document if key != "token"]
    if unknown:
        problems.append(f"{lines.of(10**9)}: unknown key {', '.join(unknown)}; the file holds [[token]] tables only")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        # also what a file is for a moment while it is being written anew
        problems.append(f"{lines.of(0)}: there must be one [[token]] table or more")
        return ()
    found: list[Entry] = []
    for index, table in enumerate(tables):
        entry = _entry(table, partial(lines.of, index), problems)
        if entry is not None:
            found.append(entry)
    _unique([e.name for e in found], "name", lines, problems)
    _unique([(e.digest, e.certificate) for e in found], "token", lines, problems)
    return tuple(found)


def _unique(keys: Sequence[object], name: str, lines: _Lines, problems: list[str]) -> None:
    if problems:
        return  # numbers of entries hold only when every entry is there
    for index, key in enumerate(keys):
        if key in keys[:index]:
            problems.append(f"{lines.of(index, name)}: the same as of token[{keys.index(key)}]")


def _entry(table: Mapping[str, Any], where: Callable[[str], str], problems: list[str]) -> Entry | None:
    before = len(problems)
    values: dict[str, Any] = {}
    for key, value in table.items():
        read = _FIELDS.get(key)
        try:
            if read is None:
                raise ValueError(f"unknown; known: {', '.join(_FIELDS)}")
            values[key] = read(value)
        except ValueError as error:
            problems.append(f"{where(key)}: {error}")
    for missing, keys in (("name", ("name",)), ("token, sha256 or certificate", ("token", "sha256", "certificate"))):
        if not any(key in table for key in keys):
            problems.append(f"{where('')}: {missing} is missing")
    if "token" in table and "sha256" in table:
        problems.append(f"{where('sha256')}: token says the same; keep one of them")
    if len(problems) > before:
        return None
    return Entry(
        name=values["name"],
        digest=digest_of(values["token"]) if "token" in values else values.get("sha256"),
        certificate=values.get("certificate", ""),
        scopes=values.get("scopes", frozenset({"send"})),
        attributes=values.get("attributes", {}),
        quota=Quota(**{f.name: values[f.name] for f in fields(Quota) if f.name in values}),
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or value != value.strip():
        raise ValueError("must be text on one line, without spaces around it")
    return value


def _token(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[!-~]+", value):
        raise ValueError("must be letters, digits and signs of ASCII without spaces, as it travels in a header")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("must be up to 64 letters, digits, spaces and . _ - / : @")
    return value


def _sha256(value: object) -> bytes:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise ValueError("must be 64 hex digits, as sha256sum gives them for the token without a line end")
    return bytes.fromhex(value)


def _scopes(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not value or not all(v in SCOPES for v in value):
        raise ValueError(f"must be a list of {', '.join(SCOPES)}")
    return frozenset(value)


def _attributes(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(k and isinstance(v, str) for k, v in value.items()):
        raise ValueError('must be a table of texts; write names with dots in quotes: {"toolselect.tenant" = "a"}')
    return dict(value)


def _positive(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e12:
        raise ValueError("must be a number greater than 0")
    return float(value)


_FIELDS: dict[str, Callable[[object], Any]] = {
    "name": _name,
    "token": _token,
    "sha256": _sha256,
    "certificate": _text,
    "scopes": _scopes,
    "attributes": _attributes,
    "spans_per_second": _positive,
    "bytes_per_second": _positive,
    "burst_seconds": _positive,
}
