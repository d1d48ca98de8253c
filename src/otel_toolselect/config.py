"""One typed settings model: configuration file < environment < flags (design section 2).

The file is TOML: its scalars have types, so nothing has to be guessed, and the standard library reads it. It
is `toolselect.toml` in the working directory, or the path in `TOOLSELECT_CONFIG`:

    store = "chdb:///var/lib/toolselect"
    [receive]
    grpc = "127.0.0.1:4317"
    http = "127.0.0.1:4318"
    [case_attributes]          # which attributes name a case (design section 4), the first that is set wins
    case_id = ["toolselect.case.id", "test.case.name"]

Environment: `TOOLSELECT_STORE`, `TOOLSELECT_GRPC`, `TOOLSELECT_HTTP`. Every mistake is reported, not only the
first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from otel_toolselect.errors import InputError, UsageError

FILE_NAME = "toolselect.toml"
CONFIG_VARIABLE = "TOOLSELECT_CONFIG"
VARIABLES = {"store": "TOOLSELECT_STORE", "grpc": "TOOLSELECT_GRPC", "http": "TOOLSELECT_HTTP"}


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port to listen on; port 0 takes a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """`host:port`, `[v6]:port` or a port alone (loopback). Raises ValueError with what is wrong."""
        host, _, port = text.rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"{text!r} is no address; write host:port, such as 127.0.0.1:4317")
        return cls(host.strip("[]") or "127.0.0.1", int(port))


@dataclass(frozen=True, slots=True)
class CaseNames:
    """Attributes that identify a case, by field (design section 4)."""

    case_id: tuple[str, ...] = ("toolselect.case.id", "test.case.name")
    suite: tuple[str, ...] = ("toolselect.suite", "test.suite.name")
    label: tuple[str, ...] = ("toolselect.label", "test.run.id")
    attempt: tuple[str, ...] = ("toolselect.attempt",)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. Ports are open to this machine only until somebody says otherwise."""

    store: str = ""
    grpc: Address = Address("127.0.0.1", 4317)
    http: Address = Address("127.0.0.1", 4318)
    case_attributes: CaseNames = field(default_factory=CaseNames)

    @property
    def dsn(self) -> str:
        return self.store or f"chdb://{quote(str(default_directory()))}"


def default_directory() -> Path:
    """Where the embedded store lives when nobody says: the user's data folder, by the custom of the
    system.
    """
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "toolselect"


def load(flags: Mapping[str, str | None] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. `flags` are the command line's values by name (`store`, `grpc`, `http`), None:
    not given. Raises InputError with every mistake of the file, UsageError for those of environment and
    flags.
    """
    env = os.environ if env is None else env
    settings = _from_file(env)
    given = {name: (env[variable], variable) for name, variable in VARIABLES.items() if env.get(variable)}
    given |= {name: (value, f"--{name}") for name, value in (flags or {}).items() if value}
    problems: list[str] = []
    for name, (value, origin) in given.items():
        settings = _with(settings, name, value, origin, problems)
    if problems:
        raise UsageError("\n".join(problems))
    return settings


def _from_file(env: Mapping[str, str]) -> Settings:
    named = env.get(CONFIG_VARIABLE)
    path = Path(named or FILE_NAME)
    if not named and not path.is_file():
        return Settings()
    import tomllib

    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read the configuration: {error}", where=str(path)) from error
    problems: list[str] = []
    settings = _from_table(table, problems)
    if problems:
        raise InputError("\n".join(problems), where=str(path))
    return settings


def _from_table(table: Mapping[str, Any], problems: list[str]) -> Settings:
    settings = Settings()
    for key, value in table.items():
        if key == "store":
            settings = _with(settings, "store", value, "store", problems)
        elif key in ("receive", "case_attributes") and not isinstance(value, dict):
            problems.append(f"{key} must be a table, written [{key}]")
        elif key == "receive":
            for name, address in value.items():
                if name in ("grpc", "http"):
                    settings = _with(settings, name, address, f"receive.{name}", problems)
                else:
                    problems.append(f"unknown key receive.{name}; known: grpc, http")
        elif key == "case_attributes":
            settings = replace(settings, case_attributes=_case_names(value, problems))
        else:
            problems.append(f"unknown key {key}; known: store, receive, case_attributes")
    return settings


def _case_names(table: Mapping[str, Any], problems: list[str]) -> CaseNames:
    known = [f.name for f in fields(CaseNames)]
    names: dict[str, tuple[str, ...]] = {}
    for key, value in table.items():
        if key not in known:
            problems.append(f"unknown key case_attributes.{key}; known: {', '.join(known)}")
        elif not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
            problems.append(f"case_attributes.{key} must be a list of attribute names")
        else:
            names[key] = tuple(value)
    return CaseNames(**names)


def _with(settings: Settings, name: str, value: object, origin: str, problems: list[str]) -> Settings:
    """The settings with one value set, or unchanged with a problem noted."""
    if not isinstance(value, str):
        problems.append(f"{origin} must be text, not {type(value).__name__}")
    elif name == "store":
        return replace(settings, store=value)  # the store itself says which forms there are
    else:
        try:
            address = Address.parse(value)
        except ValueError as error:
            problems.append(f"{origin}: {error}")
        else:
            return replace(settings, grpc=address) if name == "grpc" else replace(settings, http=address)
    return settings
