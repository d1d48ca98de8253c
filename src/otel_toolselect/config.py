"""One typed settings model: configuration file < environment < flags (design section 2).

The file is TOML: its scalars have types, so nothing has to be guessed, and the standard library reads it. It is
`toolselect.toml` in the working directory, or the path in `TOOLSELECT_CONFIG`:

    store = "chdb:///var/lib/toolselect"
    [receive]
    host = "127.0.0.1"         # another address than loopback needs a token
    grpc_port = 4317
    http_port = 4318
    [case_attributes]          # which attributes name a case (design section 4), the first that is set wins
    case_id = ["toolselect.case.id", "test.case.name"]
    [judge]                    # answers `judge: ...` in suites; off without url and model
    url = "https://api.example.com/v1"
    model = "some-model"       # its key comes from the environment only: TOOLSELECT_JUDGE_KEY
    adjudicate = false         # a second look at failures; it never changes a verdict

Environment: `TOOLSELECT_STORE`, `TOOLSELECT_HOST`, `TOOLSELECT_GRPC_PORT`, `TOOLSELECT_HTTP_PORT`, `TOOLSELECT_SPOOL`,
`TOOLSELECT_TOKEN`, `TOOLSELECT_JUDGE_URL` and the like for the other keys of `judge`. Every mistake is reported, not
only the first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from otel_toolselect.errors import InputError, UsageError

FILE_NAME = "toolselect.toml"
PREFIX = "TOOLSELECT_"
CONFIG_VARIABLE = "TOOLSELECT_CONFIG"


@dataclass(frozen=True, slots=True)
class Receive:
    """Where `serve` listens; port 0 takes a free one. `token`: what senders must present; loopback may go without.
    `spool` "": beside the store.
    """

    host: str = "127.0.0.1"
    grpc_port: int = 4317
    http_port: int = 4318
    spool: str = ""
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class CaseNames:
    """Attributes that identify a case, by field (design section 4)."""

    case_id: tuple[str, ...] = ("toolselect.case.id", "test.case.name")
    suite: tuple[str, ...] = ("toolselect.suite", "test.suite.name")
    label: tuple[str, ...] = ("toolselect.label", "test.run.id")
    attempt: tuple[str, ...] = ("toolselect.attempt",)


@dataclass(frozen=True, slots=True)
class Judge:
    """The yes/no judge: an OpenAI-compatible endpoint. Off while `url` or `model` is empty.

    `calls` and `seconds` bound one judgement as a whole, `timeout` one request; what is over a limit stays undecided.
    `cache` "": in the user's data folder.
    """

    url: str = ""
    model: str = ""
    key: str = field(default="", repr=False)
    calls: int = 500
    seconds: float = 300.0
    timeout: float = 30.0
    cache: str = ""
    adjudicate: bool = False

    @property
    def on(self) -> bool:
        return bool(self.url and self.model)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. `store` "": the embedded store in the user's data folder."""

    store: str = ""
    receive: Receive = Receive()
    case_attributes: CaseNames = CaseNames()
    judge: Judge = Judge()

    @property
    def dsn(self) -> str:
        return self.store or f"chdb://{quote(str(data_folder() / 'store'))}"


def data_folder() -> Path:
    """Where data lives when nobody says: the user's data folder, by the custom of the system."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "toolselect"


def load(flags: Mapping[str, object] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. `flags` are the command line's values by name (`store`, `host`, `grpc_port`, ...), None:
    not given. Raises InputError with every mistake of the file, UsageError with those of environment and flags.
    """
    env = os.environ if env is None else env
    settings = _from_file(env)
    problems: list[str] = []
    for name, key in KEYS.items():
        variable = PREFIX + name.upper()
        if env.get(variable):
            settings = _set(settings, key, env[variable], variable, problems)
    for name, value in (flags or {}).items():
        if value is not None:
            settings = _set(settings, KEYS[name], value, "--" + name.replace("_", "-"), problems)
    if problems:
        raise UsageError("\n".join(problems))
    return settings


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no text")
    return value


def _port(value: object) -> int:
    shown = str(value)
    if isinstance(value, bool) or not shown.isdecimal() or int(shown) > 65535:
        raise ValueError(f"{value!r} is no port; write a number from 0 to 65535, 0 for a free one")
    return int(shown)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
        raise ValueError(f"{value!r} is no list of attribute names")
    return tuple(value)


def _endpoint(value: object) -> str:
    text = _text(value)
    if not text.startswith(("http://", "https://")):
        raise ValueError(f"{value!r} is no address; write https://HOST/v1, the part before /chat/completions")
    return text.rstrip("/").removesuffix("/chat/completions")


def _count(value: object) -> int:
    shown = str(value)
    if isinstance(value, bool) or not shown.isdecimal() or int(shown) > 10**9:
        raise ValueError(f"{value!r} is no whole number from 0")
    return int(shown)


def _seconds(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not 0 < number <= 86_400:
        raise ValueError(f"{value!r} is no number of seconds from 0 to 86400")
    return number


def _switch(value: object) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False}
    found = known.get(str(value).lower())
    if found is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return found


@dataclass(frozen=True, slots=True)
class _Key:
    """One setting: its table in the file ("" for the top), its name there, and what reads its value."""

    table: str
    name: str
    read: Callable[[object], Any]

    @property
    def path(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name


KEYS = {
    "store": _Key("", "store", _text),
    "host": _Key("receive", "host", _text),
    "grpc_port": _Key("receive", "grpc_port", _port),
    "http_port": _Key("receive", "http_port", _port),
    "spool": _Key("receive", "spool", _text),
    "token": _Key("receive", "token", _text),
    "judge_url": _Key("judge", "url", _endpoint),
    "judge_model": _Key("judge", "model", _text),
    "judge_key": _Key("judge", "key", _text),
    "judge_calls": _Key("judge", "calls", _count),
    "judge_seconds": _Key("judge", "seconds", _seconds),
    "judge_timeout": _Key("judge", "timeout", _seconds),
    "judge_cache": _Key("judge", "cache", _text),
    "judge_adjudicate": _Key("judge", "adjudicate", _switch),
}
_ENVIRONMENT_ONLY = frozenset({"judge.key"})  # a file of settings is shared and committed, a key must not be
_FILE_KEYS = {
    key.path: key
    for key in (
        *KEYS.values(),
        *(_Key("case_attributes", name, _names) for name in ("case_id", "suite", "label", "attempt")),
    )
    if key.path not in _ENVIRONMENT_ONLY
}


def _set(settings: Settings, key: _Key, value: object, origin: str, problems: list[str]) -> Settings:
    """The settings with one value set, or unchanged with a problem noted."""
    try:
        good = key.read(value)
    except ValueError as error:
        problems.append(f"{origin}: {error}")
        return settings
    if not key.table:
        return replace(settings, **{key.name: good})
    return replace(settings, **{key.table: replace(getattr(settings, key.table), **{key.name: good})})


def _from_file(env: Mapping[str, str]) -> Settings:
    named = env.get(CONFIG_VARIABLE)
    path = Path(named or FILE_NAME)
    if not named and not path.is_file():
        return Settings()
    import tomllib

    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read the configuration: {error}", where=str(path)) from error
    problems: list[str] = []
    settings = Settings()
    for name, value in _flat(document):
        key = _FILE_KEYS.get(name)
        if key is None:
            problems.append(f"unknown key {name}; known: {', '.join(_FILE_KEYS)}")
        else:
            settings = _set(settings, key, value, name, problems)
    if problems:
        raise InputError("\n".join(problems), where=str(path))
    return settings


def _flat(document: Mapping[str, Any]) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in document.items():
        found += [(f"{name}.{k}", v) for k, v in value.items()] if isinstance(value, dict) else [(name, value)]
    return found
