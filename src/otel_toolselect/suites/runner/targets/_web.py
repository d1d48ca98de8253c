"""Requests over HTTP, bounded in time and size; what counts as a fault of the platform (R36)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.suites.runner.target import Outcome

_MAX_REPLY = 4 * 1024 * 1024
_FAULTS = frozenset({408, 425, 429, 529})


def require() -> None:
    """Raises EnvironmentProblem when the HTTP library is not installed."""
    from importlib.util import find_spec

    if find_spec("httpx") is None:
        raise EnvironmentProblem("this target needs httpx: pip install 'otel-toolselect[run]'")


@dataclass(slots=True)
class Web:
    """One client for all threads; `timeout_s` is for a whole exchange."""

    timeout_s: float
    headers: Mapping[str, str] = field(default_factory=dict)
    _http: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def post(self, url: str, body: str, headers: Mapping[str, str]) -> Outcome | tuple[str, str]:
        """The body of a good answer with its content type; an Outcome when there is none."""
        import httpx

        deadline = time.monotonic() + self.timeout_s
        sent = {"content-type": "application/json", **headers}
        try:
            with self._session().stream("POST", url, content=body, headers=sent, timeout=self.timeout_s) as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > _MAX_REPLY:
                        return Outcome(trouble=f"the answer is longer than {_MAX_REPLY} bytes")
                    if time.monotonic() > deadline:
                        return self._too_slow()
        except httpx.TimeoutException:
            return self._too_slow()
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:  # RuntimeError: closed by `cancel`
            return Outcome(fault=f"{type(error).__name__}: {error}"[:300])
        text = data.decode("utf-8", "replace")
        if response.is_success:
            return text, response.headers.get("content-type", "")
        return refused(response.status_code, response.headers, text)

    def _too_slow(self) -> Outcome:
        return Outcome(fault=f"timeout: no answer within {self.timeout_s:g} s")

    def close(self) -> None:
        with self._lock:
            if self._http is not None:
                self._http.close()

    def _session(self) -> Any:
        import httpx

        with self._lock:
            if self._http is None:
                # as many connections as there are attempts under way: waiting for one is no time-out of the agent
                no_limit = httpx.Limits(max_connections=None)
                self._http = httpx.Client(headers=dict(self.headers), limits=no_limit, follow_redirects=False)
            return self._http


def refused(status: int, headers: Mapping[str, str], text: str) -> Outcome:
    said = f"HTTP {status}: {' '.join(text.split())[:200]}"
    if status >= 500 or status in _FAULTS:
        return Outcome(fault=said, retry_after_s=retry_after(headers))
    hint = {401: " (is a --header or key missing?)", 404: " (is the address right?)"}.get(status, "")
    return Outcome(trouble=said + hint)


def retry_after(headers: Mapping[str, str]) -> float:
    try:
        return min(300.0, max(0.0, float(headers.get("retry-after", "0"))))
    except ValueError:
        return 0.0


def decoded(text: str) -> Any:
    """JSON, or None for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
