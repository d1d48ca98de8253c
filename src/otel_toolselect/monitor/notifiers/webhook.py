"""Webhook: each notification is POSTed as one JSON document, signed as Standard Webhooks has it.

Receivers verify with any library of https://www.standardwebhooks.com, or by hand: HMAC-SHA256 over
`{webhook-id}.{webhook-timestamp}.{body}`, in base64 after `v1,`. An old timestamp is a replay. `webhook-id`, also sent
as `Idempotency-Key`, is the notification's key: the second of the same may be dropped.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

from otel_toolselect.errors import NotifyError, UsageError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.monitor.notifiers import _http
from otel_toolselect.monitor.notifiers._options import Options, address
from otel_toolselect.monitor.notifiers._texts import document, key_in_a_header

_PREFIX = "whsec_"
_RESERVED = ("content-type", "content-length", "host", "idempotency-key", "webhook-")


@dataclass(frozen=True, slots=True)
class Webhook:
    """`secrets`: each signs; while one is exchanged there are two. None: unsigned, which a target must say."""

    name: str
    url: str = field(repr=False)
    secrets: tuple[bytes, ...] = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 10.0
    clock: Callable[[], float] = time

    def send(self, notifications: Sequence[Notification]) -> None:
        done: list[str] = []
        for notification in notifications:
            try:
                self._send(notification)
            except NotifyError as error:
                raise NotifyError(
                    str(error), retryable=error.retryable, retry_after_s=error.retry_after_s, delivered=done
                ) from error
            done.append(notification.key)

    def _send(self, notification: Notification) -> None:
        body = json.dumps(document(notification), separators=(",", ":")).encode()
        key, now = key_in_a_header(notification.key), str(int(self.clock()))
        headers = {**self.headers, "idempotency-key": key, "webhook-id": key, "webhook-timestamp": now}
        if self.secrets:
            headers["webhook-signature"] = " ".join(signature(s, key, now, body) for s in self.secrets)
        _http.post(self.url, body, headers, self.timeout_s, None)

    def close(self) -> None:
        pass


def signature(secret: bytes, key: str, timestamp: str, body: bytes) -> str:
    made = hmac.digest(secret, f"{key}.{timestamp}.".encode() + body, "sha256")
    return "v1," + base64.b64encode(made).decode()


class _Kind:
    name = "webhook"

    def make(self, name: str, options: Mapping[str, Any]) -> Webhook:
        _http.require_httpx()
        given = Options(options)
        url = address("url", given.needed("url", '"https://hooks.example.com/x"'))
        secrets, unsigned = given.texts("secret"), given.switch("unsigned")
        if not secrets and not unsigned:
            raise UsageError('secret is missing; write secret = {env = "HOOK_SECRET"}, or unsigned = true')
        if secrets and unsigned:
            raise UsageError("there is a secret, and unsigned = true: which of them?")
        headers = {key.lower(): value for key, value in given.table("headers").items()}
        for key, value in headers.items():
            if key.startswith(_RESERVED) or not (key + value).isascii() or not (key + value).isprintable():
                raise UsageError(f"headers: {key} cannot be set here")
        made = Webhook(name, url, tuple(map(_secret, secrets)), headers, given.timeout())
        given.done()
        return made


def _secret(text: str) -> bytes:
    if not text.startswith(_PREFIX):
        return text.encode()
    try:
        return base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(f"secret: what follows {_PREFIX} is not base64") from None


PLUGIN = _Kind()
