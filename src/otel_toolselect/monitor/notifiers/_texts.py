"""A notification in words and as JSON.

Short: what, since when, the value with what it rests on, the window, whom to ask. Labels may come from traces (a tool
that a model made up); in a chat they must not be able to call everybody, to end a line or to fill the screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from otel_toolselect.model.alerting import Notification, NotificationKind
from otel_toolselect.monitor.alerts import notification_text
from otel_toolselect.monitor.alerts.wording import instant, shown

SCHEMA = "toolselect.notification/1"
_WORDS: Mapping[NotificationKind, str] = {
    "fire": "FIRING",
    "resolve": "RESOLVED",
    "no_data": "NO DATA",
    "data_back": "DATA BACK",
}
_LONGEST = 200
_LONGEST_KEY = 200
_TAME = str.maketrans({"<": "‹", ">": "›", "@": "＠"})
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Message:
    """For people."""

    title: str
    body: str


def message(n: Notification, *, steady_title: bool = False) -> Message:
    """`steady_title`: the same title for begin and end, for services that match them by it."""
    if steady_title:
        return Message(tame(_what(n)), f"{tame(_happens(n))}\n{body(n)}")
    return Message(title(n), body(n))


def title(n: Notification) -> str:
    """`FIRING critical: wrong-tool tool=search`."""
    return tame(f"{_happens(n)}: {_what(n)}")


def _happens(n: Notification) -> str:
    return f"{_WORDS[n.kind]} {n.severity}" if n.kind in ("fire", "no_data") else _WORDS[n.kind]


def _what(n: Notification) -> str:
    return " ".join([n.alert, *(f"{name}={value}" for name, value in n.series)])


def value_of(n: Notification) -> str:
    return shown(n.value, n.unit, n=n.n, numerator=n.numerator)


def body(n: Notification) -> str:
    lines = [f"{n.signal}: {value_of(n)}", n.says]
    if n.end_ns > n.start_ns:
        lines.append(f"window: {instant(n.start_ns)} to {instant(n.end_ns)}{' (late data)' if n.late else ''}")
    lines.append(f"since: {instant(n.since_ns)}")
    lines += [text for name, text in n.annotations.items() if name in ("summary", "description")]
    lines += n.detail
    lines += [f"owner: {n.owner}"] if n.owner else []
    told = [tame(line) for line in lines]
    return "\n".join([*told, f"runbook: {n.runbook}"] if n.runbook else told)


def tame(text: str) -> str:
    flat = _BREAKS.sub(" ", text).strip().translate(_TAME)
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"


def document(n: Notification) -> dict[str, Any]:
    """For programs: the notification as it is stored, the times also as text, the value also as people read it."""
    return {
        "schema": SCHEMA,
        **json.loads(notification_text(n)),
        "title": title(n),
        "shown": value_of(n),
        "at": instant(n.at_ns),
        "since": instant(n.since_ns),
        "window_start": instant(n.start_ns),
        "window_end": instant(n.end_ns),
    }


def lines(notifications: Sequence[Notification]) -> str:
    """JSON lines."""
    return "".join(json.dumps(document(n)) + "\n" for n in notifications)


def key_in_a_header(key: str) -> str:
    """A notification's key as a header may carry it: percent-encoded, or its SHA-256 where that would be long. Points
    are encoded as well: Standard Webhooks signs `id.timestamp.body`.
    """
    encoded = quote(key, safe="").replace(".", "%2E")
    return encoded if len(encoded) <= _LONGEST_KEY else sha256(key.encode()).hexdigest()
