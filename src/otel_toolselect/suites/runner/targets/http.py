"""`--http URL`: one POST per attempt to an agent that is running already.

The body is `{"prompt": ...}`, or the JSON of `--body`, in whose texts `{prompt}`, `{case_id}` and `{attempt}` are put
in.
The headers `traceparent` and `baggage` name the attempt.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from otel_toolselect.errors import UsageError
from otel_toolselect.suites.runner.answers import read_answer
from otel_toolselect.suites.runner.masking import shown_url
from otel_toolselect.suites.runner.target import Options, Outcome, Trial
from otel_toolselect.suites.runner.targets._web import Web, decoded, require
from otel_toolselect.suites.runner.targets.exec import filled


class _Http:
    name = "http"
    about = "a POST per attempt to an agent that runs already"

    def make(self, options: Options) -> Endpoint:
        require()
        check_url(options.where, "--http")
        body: Any = {"prompt": "{prompt}"}
        if options.body is not None:
            body = decoded(options.body)
            if body is None:
                raise UsageError(f"--body is not JSON: {options.body!r}")
        return Endpoint(options.where, body, Web(options.timeout_s, options.headers))


PLUGIN = _Http()


def check_url(url: str, option: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{option} {shown_url(url)!r} is no address; write http://host:port/path")


@dataclass(slots=True)
class Endpoint:
    url: str
    body: Any
    web: Web

    @property
    def shown(self) -> str:
        return f"http {shown_url(self.url)}"

    def run(self, trial: Trial) -> Outcome:
        attempt = trial.attempt
        values = {"prompt": attempt.prompt, "case_id": attempt.case.id, "attempt": str(attempt.number)}
        found = self.web.post(self.url, json.dumps(_filled(self.body, values)), trial.headers)
        if isinstance(found, Outcome):
            return found
        text, _ = found
        return Outcome(read_answer(decoded(text)))

    def cancel(self) -> None:
        self.web.close()

    def close(self) -> None:
        self.web.close()


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if isinstance(value, dict):
        return {k: _filled(v, values) for k, v in value.items()}
    return value
