"""The tables of the configuration: one dataclass each, one line a setting.

A new setting is one field here; its place in the file (`[table] name`), its environment variable and its reading all
follow from that line.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.config import _values as v
from otel_toolselect.config._values import setting


@dataclass(frozen=True, slots=True)
class Receive:
    """Where `serve` listens; port 0 takes a free one. `token`: what senders must present; loopback may go without.
    `spool` "": beside the store.
    """

    host: str = setting("127.0.0.1", v.text, variable="HOST")
    grpc_port: int = setting(4317, v.port, variable="GRPC_PORT")
    http_port: int = setting(4318, v.port, variable="HTTP_PORT")
    spool: str = setting("", v.text, variable="SPOOL")
    token: str = setting("", v.text, variable="TOKEN", secret=True)


@dataclass(frozen=True, slots=True)
class CaseNames:
    """Attributes that identify a case, by field (design section 4)."""

    case_id: tuple[str, ...] = setting(("toolselect.case.id", "test.case.name"), v.names, variable=None)
    suite: tuple[str, ...] = setting(("toolselect.suite", "test.suite.name"), v.names, variable=None)
    label: tuple[str, ...] = setting(("toolselect.label", "test.run.id"), v.names, variable=None)
    attempt: tuple[str, ...] = setting(("toolselect.attempt",), v.names, variable=None)


@dataclass(frozen=True, slots=True)
class Judge:
    """The yes/no judge: an OpenAI-compatible endpoint. Off while `url` or `model` is empty.

    `calls` and `seconds` bound one judgement as a whole, `timeout` one request; what is over a limit stays undecided.
    `cache` "": in the user's data folder.
    """

    url: str = setting("", v.endpoint)
    model: str = setting("", v.text)
    key: str = setting("", v.text, secret=True, in_file=False)
    calls: int = setting(500, v.count)
    seconds: float = setting(300.0, v.seconds)
    timeout: float = setting(30.0, v.seconds)
    cache: str = setting("", v.text)
    adjudicate: bool = setting(False, v.switch)

    @property
    def on(self) -> bool:
        return bool(self.url and self.model)
