"""HTTP towards receivers of notifications: one attempt of bounded time, and the one place that says whether another one
may do better.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from time import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from otel_toolselect import __version__
from otel_toolselect.errors import NotifyError, UsageError

if TYPE_CHECKING:
    import httpx

# RFC 9110: the sender may repeat the request unchanged. Everything from 500 on is the receiver's own trouble.
_AGAIN = frozenset({408, 421, 425, 429})
_HINTS: Mapping[int, str] = {
    400: "; it does not take what is sent to it",
    401: "; look at its credentials",
    403: "; look at its credentials",
    404: "; look at its url",
    405: "; look at its url",
    410: "; look at its url",
}
_MOST_REPLY_BYTES = 2**20


def require_httpx() -> None:
    """Raises UsageError when the library that notifications go through is not installed."""
    if find_spec("httpx") is None:
        raise UsageError("this type needs httpx: pip install 'otel-toolselect[notify]'")


def refusal(place: str, status: int, retry_after: str = "") -> NotifyError:
    """What an HTTP status other than success means."""
    if 300 <= status < 400:
        return NotifyError(f"{place} answers {status}, it is somewhere else; name its final url", retryable=False)
    again = status in _AGAIN or status >= 500
    hint = "" if again else _HINTS.get(status, "")
    return NotifyError(
        f"{place} answers {status}{hint}", retryable=again, retry_after_s=_seconds(retry_after) if again else None
    )


def place_of(url: str) -> str:
    """Host and port: the rest of an address may be a secret."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port}" if parts.port else f"{host}"


def post(url: str, body: bytes, headers: Mapping[str, str], timeout_s: float, auth: tuple[str, str] | None) -> None:
    """Returns when the receiver has taken it. Raises NotifyError, without any word of the request or the answer.

    Nothing takes longer than `timeout_s`, an answer that comes byte by byte neither: an event loop can stop anything
    half-way, which the timeouts of sockets, one for each read, cannot.
    """
    import httpx

    place = place_of(url)
    try:
        status, retry_after = asyncio.run(_post(url, body, headers, timeout_s, auth))
    except (TimeoutError, httpx.TimeoutException):
        raise NotifyError(f"{place} gave no answer within {timeout_s:g} s", retryable=True) from None
    except httpx.HTTPError as error:
        raise NotifyError(f"{place} is out of reach: {type(error).__name__}", retryable=True) from None
    if not 200 <= status < 300:
        raise refusal(place, status, retry_after)


async def _post(
    url: str, body: bytes, headers: Mapping[str, str], timeout_s: float, auth: tuple[str, str] | None
) -> tuple[int, str]:
    import httpx

    given = {"content-type": "application/json", "user-agent": f"toolselect/{__version__}", **headers}
    async with (
        asyncio.timeout(timeout_s),
        httpx.AsyncClient(timeout=timeout_s, auth=auth) as client,
        client.stream("POST", url, content=body, headers=given) as response,
    ):
        await _drain(response)
        return response.status_code, response.headers.get("retry-after", "")


async def _drain(response: httpx.Response) -> None:
    """A receiver that is cut off while it answers may take its work back."""
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > _MOST_REPLY_BYTES:
            return


def _seconds(retry_after: str) -> float | None:
    """RFC 9110, 10.2.3: seconds, or a date."""
    text = retry_after.strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
