"""Redaction: what must not be kept is taken out before anything is kept (`config.Redact`).

Rules treat attributes by key and texts by pattern: `drop` takes out the attribute or the matched text, `mask` puts
`***` there, `hash` a keyed digest (`hmac:` and 16 hex digits, HMAC-SHA256) by which equal values stay joinable. A
pattern is looked for in every text of a record: values at any depth, inside JSON texts (there in each string and
number, so that the JSON stays whole), numbers, bytes, names, status messages, log bodies, resource and scope
attributes, and keys. A match that spans several members of a JSON text is taken out all the same, and the text may be
no JSON afterwards: to remove a member, deny its name.

Keys are globs (`*`, `?`) or `/RE2/`, without regard to case, and hold for attributes, for members of nested values, and
for members of JSON texts (whose value becomes `***`, or the digest). `allow` is about attributes only; the product's
own (`toolselect.*`) always stay. Same input, same output; redacting again changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_toolselect.config import Redact

if TYPE_CHECKING:
    from otel_toolselect.otlp.redact.walk import Redactor

__all__ = ["redactor"]


def redactor(settings: Redact) -> Redactor | None:
    """What applies the settings; None when they ask for nothing. Raises UsageError for all mistakes in them."""
    if not settings.on:
        return None
    from otel_toolselect.otlp.redact.rules import compile_rules
    from otel_toolselect.otlp.redact.walk import Redactor

    return Redactor(compile_rules(settings), drop_content=settings.content == "drop")
