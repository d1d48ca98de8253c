"""One typed settings model: configuration file < environment < flags (design section 2).

The file is TOML: its scalars have types, so nothing has to be guessed, and the standard library reads it. It is
`toolselect.toml` in the working directory, or the path in `TOOLSELECT_CONFIG`:

    store = "chdb:///var/lib/toolselect"
    [receive]
    host = "127.0.0.1"         # another address than loopback needs TLS, and tokens or client certificates
    grpc_port = 4317
    http_port = 4318
    tokens = "tokens.toml"     # who may send (docs/access.md)
    tls_cert = "tls.crt"
    tls_key = "tls.key"
    [telemetry]                # what `serve` tells about itself
    log_format = "json"        # or "text"
    log_level = "warning"
    otlp_endpoint = "http://collector:4318"     # own spans; off without it
    [case_attributes]          # which attributes name a case (design section 4), the first that is set wins
    case_id = ["toolselect.case.id", "test.case.name"]
    [judge]                    # answers `judge: ...` in suites; off without url and model
    url = "https://api.example.com/v1"
    model = "some-model"       # its key comes from the environment only: TOOLSELECT_JUDGE_KEY
    adjudicate = false         # a second look at failures; it never changes a verdict
    [monitor]                  # alerts on what is judged; off without alerts
    alerts = ["support.alerts.yaml"]
    [[monitor.notify]]         # where notifications go (`monitor.notifiers`)
    type = "webhook"
    url = "https://hooks.example.com/x"
    [export]                   # verdicts as OpenTelemetry events (docs/notifications.md); off without it
    otlp_endpoint = "http://collector:4318"
    [web]                      # pages and read API on the HTTP port (docs/pages.md)
    public_url = "https://toolselect.example.com"
    [oidc]                     # people sign in with OpenID Connect; the secret: TOOLSELECT_OIDC_CLIENT_SECRET
    issuer = "https://login.example.com/realms/main"
    client_id = "toolselect"
    admins = ["sre"]
    [rpc]                      # evaluate, confusion and streams of verdicts on the gRPC port (docs/grpc.md)
    seconds = 30
    [limits]
    value_bytes = "1 MiB"      # a longer value is cut, and its span says so
    connections = 1024         # of each port
    [retention]
    days = 90                  # older spans are rejected when they arrive; 0 keeps all
    [redact]                   # before anything is kept; off without a word here
    patterns = ["email", "card"]
    deny = ["user.*", "*password*"]
    content = "keep"           # "drop": no texts, arguments and results, but their structure
    [[redact.rule]]
    pattern = 'ORD-\\d{6}'
    action = "hash"            # its key comes from the environment only: TOOLSELECT_REDACT_KEY

Environment: `TOOLSELECT_STORE`, `TOOLSELECT_HOST`, `TOOLSELECT_GRPC_PORT`, `TOOLSELECT_HTTP_PORT`, `TOOLSELECT_SPOOL`,
`TOOLSELECT_TOKEN`, `TOOLSELECT_JUDGE_URL` and the like for the other keys of `judge`. Every mistake is reported, not
only the first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from otel_toolselect.config._values import NotifyTarget, Reader, RedactRule, setting, text
from otel_toolselect.config.sections import (
    CaseNames,
    Export,
    Judge,
    Labels,
    Limits,
    Live,
    Monitor,
    Oidc,
    Receive,
    Redact,
    Retention,
    Rpc,
    Spool,
    Telemetry,
    Web,
)
from otel_toolselect.errors import InputError, UsageError

__all__ = [
    "CONFIG_VARIABLE",
    "FILE_NAME",
    "PREFIX",
    "CaseNames",
    "Export",
    "Judge",
    "Labels",
    "Limits",
    "Live",
    "Monitor",
    "NotifyTarget",
    "Oidc",
    "Receive",
    "Redact",
    "RedactRule",
    "Retention",
    "Rpc",
    "Settings",
    "Spool",
    "Telemetry",
    "Web",
    "data_folder",
    "load",
]

FILE_NAME = "toolselect.toml"
PREFIX = "TOOLSELECT_"
CONFIG_VARIABLE = "TOOLSELECT_CONFIG"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. `store` "": the embedded store in the user's data folder."""

    store: str = setting("", text)
    receive: Receive = Receive()
    spool: Spool = Spool()
    telemetry: Telemetry = Telemetry()
    case_attributes: CaseNames = CaseNames()
    judge: Judge = Judge()
    live: Live = Live()
    monitor: Monitor = Monitor()
    export: Export = Export()
    labels: Labels = Labels()
    web: Web = Web()
    oidc: Oidc = Oidc()
    rpc: Rpc = Rpc()
    limits: Limits = Limits()
    retention: Retention = Retention()
    redact: Redact = Redact()

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
    """The settings in force.

    `flags` are the command line's values by variable in small letters (`store`, `host`, `grpc_port`, `judge_url`, ...),
    None: not given. Raises InputError with every mistake of the file, UsageError with those of environment and flags.
    """
    env = os.environ if env is None else env
    settings = _from_file(env)
    problems: list[str] = []
    for variable, key in BY_VARIABLE.items():
        if env.get(variable):
            settings = _set(settings, key, env[variable], variable, problems)
    for name, value in (flags or {}).items():
        if value is not None:
            key = BY_VARIABLE[PREFIX + name.upper()]
            settings = _set(settings, key, value, "--" + name.replace("_", "-"), problems)
    if problems:
        raise UsageError("\n".join(problems))
    return settings


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: its table in the file ("" for the top), its name there, what reads its value."""

    table: str
    name: str
    read: Reader
    variable: str | None
    """The whole environment variable; None: it has none."""
    in_file: bool

    @property
    def path(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name


def _keys() -> list[Key]:
    """Every setting there is, out of the fields of the dataclasses."""
    found: list[Key] = []
    for top in fields(Settings):
        table = top.name if is_dataclass(top.default) else ""
        for item in fields(top.default) if is_dataclass(top.default) else (top,):
            variable = item.metadata["variable"]
            if variable is not None:
                variable = PREFIX + (variable or (f"{table}_{item.name}" if table else item.name).upper())
            found.append(Key(table, item.name, item.metadata["read"], variable, item.metadata["in_file"]))
    return found


KEYS = tuple(_keys())
BY_VARIABLE = {key.variable: key for key in KEYS if key.variable is not None}
BY_PATH = {key.path: key for key in KEYS if key.in_file}


def _set(settings: Settings, key: Key, value: object, origin: str, problems: list[str]) -> Settings:
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
        key = BY_PATH.get(name)
        if key is None:
            problems.append(f"unknown key {name}; known: {', '.join(BY_PATH)}")
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
