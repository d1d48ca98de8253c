"""Secrets out of what a run keeps and prints (design section 10).

Known secrets are values: of environment variables that are named like one, of headers, of passwords in addresses, of
the model's key. They become `***` wherever they stand, in spans too. In texts for people (what an agent printed as it
failed) the shapes of credentials go as well, known or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

import re2

from otel_toolselect.config import Redact, RedactRule
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp.redact import redactor

MASK = "***"
_NAMED = re.compile(r"(?i)key|token|secret|passw|passphrase|credential|authorization|cookie|dsn")
_HARMLESS = re.compile(r"(?i)^(true|false|none|null|/.*|[a-z_ -]+|[0-9.]+)$")
_LEAST = 8  # shorter values stand in too many words
_SHAPES = ("api_key", "bearer", "jwt", "password", "private_key", "url_password")


class Masker:
    """One for a run. `redact`: the user's own rules, which hold for spans as they do in `serve`."""

    def __init__(self, secrets: Iterable[str], redact: Redact) -> None:
        known = sorted({s for s in secrets if len(s) >= _LEAST}, key=lambda s: (-len(s), s))
        rules = tuple(RedactRule(pattern=re2.escape(s)) for s in known)
        self._spans = redactor(replace(redact, rule=(*redact.rule, *rules)))
        everything = replace(
            redact, patterns=tuple(dict.fromkeys((*redact.patterns, *_SHAPES))), rule=(*redact.rule, *rules)
        )
        from otel_toolselect.otlp.redact.rules import compile_rules
        from otel_toolselect.otlp.redact.texts import Texts

        self._texts = Texts(compile_rules(everything))

    def text(self, text: str) -> str:
        return self._texts.clean(text)

    def batch(self, batch: Batch) -> Batch:
        return batch if self._spans is None else self._spans.batch(batch)


def secrets_of(environment: Mapping[str, str], headers: Mapping[str, str], *more: str) -> set[str]:
    """Values that must not be kept or printed."""
    found = {v for k, v in environment.items() if _NAMED.search(k) and len(v) >= _LEAST and not _HARMLESS.match(v)}
    for name, value in headers.items():
        if _NAMED.search(name):
            found |= {value, value.split(" ", 1)[-1]}
    for text in more:
        if text:
            found.add(text)
    return found


def passwords_in(url: str) -> set[str]:
    """The password of an address, and the values of what looks like a key in its query."""
    parts = urlsplit(url)
    found = {parts.password} if parts.password else set()
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if value and _NAMED.search(name):
            found.add(value)
    return {text for text in found if text}


def shown_url(url: str) -> str:
    """An address without password and without the values of its query."""
    parts = urlsplit(url)
    host = parts.netloc.rsplit("@", 1)[-1]
    user = f"{parts.username}:{MASK}@" if parts.password else ""
    query = "&".join(f"{pair.partition('=')[0]}={MASK}" for pair in parts.query.split("&") if pair)
    return urlunsplit((parts.scheme, user + host, parts.path, query, ""))
