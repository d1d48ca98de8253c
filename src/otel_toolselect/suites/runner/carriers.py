"""How the identity of an attempt travels to the agent: environment variables, HTTP headers, resource attributes.

- `TRACEPARENT` and `BAGGAGE` in the environment, `traceparent` and `baggage` over HTTP: W3C Trace Context and Baggage
  (OpenTelemetry specification, "Environment Variables as Context Propagation Carriers"). Whoever continues the trace
  needs nothing else: its spans lie under the runner's, which names the case.
- `OTEL_RESOURCE_ATTRIBUTES`: every SDK puts them on its spans; for agents that are started anew for each attempt.
- `TOOLSELECT_CASE_ID`, `_SUITE`, `_LABEL`, `_ATTEMPT`, `_PROMPT`: for agents that name their spans by hand. A prompt
  that is too long for the environment is on standard input only.
- `OTEL_EXPORTER_OTLP_ENDPOINT` and `_PROTOCOL` point to the receiver; settings per signal that would win over them are
  taken out of the environment.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from otel_toolselect.suites.runner.plan import Attempt
from otel_toolselect.suites.runner.target import Trial

_PER_SIGNAL = tuple(
    f"OTEL_EXPORTER_OTLP_{signal}_{what}"
    for signal in ("TRACES", "LOGS", "METRICS")
    for what in ("ENDPOINT", "PROTOCOL", "HEADERS", "INSECURE", "CERTIFICATE", "COMPRESSION")
)
_OF_ANOTHER_PLACE = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_INSECURE")
TRIAL_ID = "toolselect.run.trial"
"""Names the very try that a span belongs to: spans of a try that was interrupted are not those of the next."""


_LONGEST = 100_000  # Linux takes 128 KiB in one string of the environment


def as_argument(text: str) -> str:
    """What an operating system takes as an argument or in the environment: no NUL, and UTF-8."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Names:
    """Attributes that name a case: the first of each in the settings, which assembly looks for."""

    case_id: str = "toolselect.case.id"
    suite: str = "toolselect.suite"
    label: str = "toolselect.label"
    attempt: str = "toolselect.attempt"


@dataclass(frozen=True, slots=True)
class Carriers:
    """Makes the trials of a run. `endpoint` None: the agent sends its spans where it always does."""

    suite: str
    label: str | None = None
    endpoint: str | None = None
    protocol: str = "http/protobuf"
    names: Names = Names()

    def trial(self, attempt: Attempt) -> Trial:
        trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
        parent = f"00-{trace_id}-{span_id}-01"
        baggage = ",".join(
            f"{k}={quote(v, safe='', errors='replace')}" for k, v in self._named(attempt, Names()).items()
        )
        return Trial(
            attempt=attempt,
            trace_id=trace_id,
            span_id=span_id,
            environment=self._environment(attempt, parent, baggage, span_id),
            headers={"traceparent": parent, "baggage": baggage},
        )

    def identity(self, attempt: Attempt) -> dict[str, str]:
        """Attributes that name the attempt, as assembly reads them."""
        return self._named(attempt, self.names)

    def _named(self, attempt: Attempt, names: Names) -> dict[str, str]:
        found = {names.case_id: attempt.case.id, names.suite: self.suite, names.attempt: str(attempt.number)}
        return {**found, names.label: self.label} if self.label is not None else found

    def _environment(self, attempt: Attempt, parent: str, baggage: str, trial_id: str) -> dict[str, str]:
        resource = {**self.identity(attempt), TRIAL_ID: trial_id}
        given = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
        attributes = [given] if given else []
        attributes += [f"{k}={quote(v, safe='', errors='replace')}" for k, v in resource.items()]
        found = {
            "TOOLSELECT_CASE_ID": as_argument(attempt.case.id),
            "TOOLSELECT_SUITE": as_argument(self.suite),
            "TOOLSELECT_ATTEMPT": str(attempt.number),
            "TRACEPARENT": parent,
            "BAGGAGE": baggage,
            "OTEL_RESOURCE_ATTRIBUTES": ",".join(attributes),
        }
        if self.label is not None:
            found["TOOLSELECT_LABEL"] = as_argument(self.label)
        prompt = as_argument(attempt.prompt)
        if len(prompt.encode()) <= _LONGEST:
            found["TOOLSELECT_PROMPT"] = prompt
        return found | self.exporter()

    def exporter(self) -> dict[str, str]:
        """Where spans go; nothing when the agent knows by itself."""
        if self.endpoint is None:
            return {}
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": self.protocol}


def inherited(extra: Mapping[str, str], trial_environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of an agent's process: ours without what is meant for this product (keys are among it), what the
    user adds, what names the attempt.
    """
    found = {k: v for k, v in os.environ.items() if k != "TRACESTATE" and not k.startswith("TOOLSELECT_")}
    if "OTEL_EXPORTER_OTLP_ENDPOINT" in trial_environment:
        for name in (*_PER_SIGNAL, *_OF_ANOTHER_PLACE):
            found.pop(name, None)
    return {**found, **extra, **trial_environment}
