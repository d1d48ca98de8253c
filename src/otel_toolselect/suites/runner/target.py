"""What is run: the contract of a target, and what one attempt of it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol, cast

from otel_toolselect import registry
from otel_toolselect.assemble import is_infra
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.runner.answers import Answer
from otel_toolselect.suites.runner.plan import Attempt

TARGETS_PACKAGE = "otel_toolselect.suites.runner.targets"


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt under way: its place in a trace of its own, and the identity that travels with it.

    `environment` and `headers` carry that identity (`carriers`); ids are lower-case hex.
    """

    attempt: Attempt
    trace_id: str
    span_id: str
    environment: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt.

    `fault`: an infrastructure fault in a few words. `trouble`: why the agent itself failed. `answer` is what it states
    of its own calls, None when it states nothing. `flushed`: every span that the agent will ever send of it has been
    sent. `retry_after_s`: the pause that the other side asked for.
    """

    answer: Answer | None = None
    fault: str | None = None
    trouble: str | None = None
    flushed: bool = False
    retry_after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Options:
    """What a target may be told; each kind takes what it needs. Times in seconds. `key` is a secret.

    `catalog`: tool definitions to offer, by name, for kinds that offer tools themselves; `python`: the interpreter of
    the agent's environment.
    """

    where: str
    timeout_s: float = 120.0
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    python: str | None = None
    base_url: str = ""
    key: str = field(default="", repr=False)
    provider: str | None = None
    system: str | None = None
    catalog: Catalog | None = None


class Catalog(Protocol):
    """What is offered to the model in a case. Raises UsageError when it cannot say."""

    def offered(self, attempt: Attempt) -> tuple[ToolDefinition, ...]: ...


class Target(Protocol):
    """An agent, or a model. `run` is called from several threads."""

    @property
    def shown(self) -> str:
        """What it is, without secrets; equal for equal targets."""
        ...

    def run(self, trial: Trial) -> Outcome:
        """Sends one attempt and waits for its end, no longer than the time-out. Raises EnvironmentProblem or
        UsageError only for what will fail in every attempt.
        """
        ...

    def cancel(self) -> None:
        """Ends what is under way, now. `run` then returns anything."""
        ...

    def close(self) -> None: ...


class Kind(Protocol):
    """A kind of target (`targets/`). `name` is its option on the command line."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...

    def make(self, options: Options) -> Target:
        """Raises UsageError or EnvironmentProblem for what can be seen to be wrong beforehand."""
        ...


@cache
def kinds() -> Mapping[str, Kind]:
    return cast("Mapping[str, Kind]", registry.discover(TARGETS_PACKAGE))


def failed(error_type: str, message: str) -> Outcome:
    """An agent that ended with an error: the platform's where that is unmistakable, else its own."""
    said = f"{error_type}: {message}".strip(": ")[:300]
    if is_infra(error_type, message):
        return Outcome(fault=said)
    return Outcome(trouble=said)
