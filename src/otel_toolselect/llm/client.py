"""The client: `POST {url}/chat/completions`, within limits, with retries; never an exception (R37).

Limits hold for the life of a client, that is for one judgement: so many requests (retries count) and so many seconds.
What is over a limit, out of reach or not understood is an answer without yes or no, with the reason, and is not kept.
After `GIVE_UP` failures in a row the rest of the judgement does without: a dead endpoint must not cost its timeout once
per question.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.llm.cache import Cache
from otel_toolselect.llm.prompts import SYSTEM, prompt_of, read_reply
from otel_toolselect.model.questions import Answer, Question

ATTEMPTS = 4
GIVE_UP = 3
_BACKOFF_S = 0.5
_MAX_REPLY = 1024 * 1024
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# what some models refuse to be told; left out after the endpoint has said so
_OPTIONAL: Mapping[str, Any] = {"temperature": 0, "max_tokens": 400}


@dataclass(frozen=True, slots=True)
class Limits:
    calls: int = 500
    seconds: float = 300.0
    timeout: float = 30.0


class _Refused(Exception):
    """This question has no answer; the text says why. `retry_after`: None when asking again is no use."""

    def __init__(self, why: str, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class Client:
    """An `Asker` (`rules.asking`). `sleep` and `clock` are for tests."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        limits: Limits | None = None,
        cache: Cache | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._model = model
        self._key = key
        self._limits = limits or Limits()
        self._cache = cache
        self._sleep, self._clock = sleep, clock
        self._options = dict(_OPTIONAL)
        self._http: Any = None
        self._spent = 0.0
        self._failures = 0
        self.calls = 0

    def ask(self, question: Question) -> Answer:
        prompt = prompt_of(question)
        kept = self._cache.get(self._model, SYSTEM, prompt) if self._cache is not None else None
        if kept is not None:
            yes, reason = read_reply(kept)
            return Answer(yes, reason, prompt, kept, self._model, kept=True)
        begun = self._clock()
        try:
            reply = self._reply(prompt, begun)
            self._failures = 0
        except _Refused as refusal:
            return Answer(None, str(refusal), prompt, "", self._model)
        finally:
            self._spent += self._clock() - begun
        yes, reason = read_reply(reply)
        if yes is not None and self._cache is not None:
            self._cache.put(self._model, SYSTEM, prompt, reply)
        return Answer(yes, reason, prompt, reply, self._model)

    def close(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def _reply(self, prompt: str, begun: float) -> str:
        if self._failures >= GIVE_UP:
            raise _Refused(f"the judge did not answer {GIVE_UP} times in a row and is not asked any more")
        wait = _BACKOFF_S
        for attempt in range(1, ATTEMPTS + 1):
            left = self._limits.seconds - self._spent - (self._clock() - begun)
            if left <= 0:
                raise _Refused(f"the judge's time is used up (judge.seconds is {self._limits.seconds:g})")
            if self.calls >= self._limits.calls:
                raise _Refused(f"the judge's calls are used up (judge.calls is {self._limits.calls})")
            try:
                return self._post(prompt, min(left, self._limits.timeout))
            except _Refused as refusal:
                last = attempt == ATTEMPTS or refusal.retry_after is None
                pause = max(wait, refusal.retry_after or 0.0)
                if last or pause >= left:
                    self._failures += 1
                    raise
                self._sleep(pause)
                wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _post(self, prompt: str, timeout: float) -> str:
        """One request. Raises _Refused, which says whether another may do better."""
        import httpx

        self.calls += 1
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        body = json.dumps({"model": self._model, "messages": messages, **self._options})  # ASCII: lone surrogates too
        try:
            with self._session().stream("POST", self._url, content=body, timeout=timeout) as response:
                data = bytearray()
                deadline = self._clock() + timeout
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > _MAX_REPLY or self._clock() > deadline:
                        raise _Refused("the judge's reply is too long or too slow")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _Refused(f"the judge is out of reach: {type(error).__name__} {error}".strip(), 0.0) from error
        if response.status_code == 200:
            return _content(bytes(data))
        raise self._refusal(response.status_code, response.headers, data[:2000].decode("utf-8", "replace"))

    def _refusal(self, status: int, headers: Mapping[str, str], said: str) -> _Refused:
        dropped = [name for name in self._options if status == 400 and name in said]
        for name in dropped:
            del self._options[name]
        if dropped:
            return _Refused(f"the judge's endpoint refuses {', '.join(dropped)}", 0.0)
        hint = {
            401: "; set TOOLSELECT_JUDGE_KEY",
            403: "; set TOOLSELECT_JUDGE_KEY",
            404: "; judge.url is the part before /chat/completions",
        }.get(status, "")
        why = f"the judge's endpoint answers {status}: {' '.join(said.split())[:160]}{hint}"
        return _Refused(why, _retry_after(headers) if status in _AGAIN else None)

    def _session(self) -> Any:
        import httpx

        if self._http is None:
            headers = {"content-type": "application/json"}
            if self._key:
                headers["authorization"] = f"Bearer {self._key}"
            self._http = httpx.Client(headers=headers, follow_redirects=False)
        return self._http


def require() -> None:
    """Raises EnvironmentProblem when the library that the client speaks through is not installed."""
    from importlib.util import find_spec

    if find_spec("httpx") is None:
        raise EnvironmentProblem("the judge needs httpx: pip install 'otel-toolselect[judge]'")


def _retry_after(headers: Mapping[str, str]) -> float:
    try:
        return max(0.0, float(headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _content(data: bytes) -> str:
    try:
        content = json.loads(data)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        content = None
    if isinstance(content, list):  # some endpoints answer in parts
        content = "".join(p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str))
    if not isinstance(content, str) or not content.strip():
        raise _Refused(f"the judge's reply holds no text: {data[:120].decode('utf-8', 'replace')!r}")
    return content
