"""The redaction settings, compiled: which keys, which patterns, and what stands in place of what they find."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import re2

from otel_toolselect.config import Redact, RedactRule
from otel_toolselect.errors import UsageError
from otel_toolselect.otlp.redact.patterns import SHAPES, Parts

Action = Literal["drop", "mask", "hash"]
MASK = "***"
OWN = "toolselect."
_ANCHOR = re.compile(r"\^|\$|\\A|\\z|\\Z|\\C")
_CLASS_START = re.compile(r"\[\^")
_QUICK_MEMORY = 64 * 2**20
NOTHING = re2.compile(r"[^\x00-\x{10FFFF}]")
"""Matches no text."""


class Digests:
    """Keyed digests. Without a key one is made up: then they are good for telling bodies apart until the end of the
    process, and rules cannot use them.
    """

    def __init__(self, key: str) -> None:
        self.stable = bool(key)
        self._key = key.encode() or os.urandom(32)

    def of(self, data: bytes) -> str:
        return "hmac:" + hmac.new(self._key, data, hashlib.sha256).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands in place of a matched text."""

    action: Action
    digests: Digests

    def of(self, text: str) -> str:
        if self.action == "hash":
            return self.digests.of(text.encode())
        return MASK if self.action == "mask" else ""


@dataclass(frozen=True, slots=True)
class KeyPattern:
    """`whole`: matches a key. `in_json`: RE2 that matches where a JSON text has such a name; None: not to be had."""

    whole: Any
    in_json: str | None

    def matches(self, key: str) -> bool:
        return self.whole.search(key) is not None


@dataclass(frozen=True, slots=True)
class TextRule:
    """`pattern` in texts; `keys` None: in every text, else only under keys that it matches."""

    pattern: Any
    put: Replacement
    parts: Parts | None = None
    keys: KeyPattern | None = None


@dataclass(frozen=True, slots=True)
class KeyRule:
    """Attributes and members as a whole."""

    keys: KeyPattern
    put: Replacement


@dataclass(frozen=True, slots=True)
class Rules:
    allow: KeyPattern | None
    """None: every attribute."""
    keys: tuple[KeyRule, ...]
    texts: tuple[TextRule, ...]
    digests: Digests
    quick: Any
    """A pattern that matches wherever a rule would do something inside a text; None: there is no such pattern."""

    def key_rule(self, key: str) -> KeyRule | None:
        """The rule for an attribute or member as a whole, the first that matches its key."""
        return next((rule for rule in self.keys if rule.keys.matches(key)), None)

    def allows(self, key: str) -> bool:
        return self.allow is None or key.startswith(OWN) or self.allow.matches(key)

    def text_rules(self, key: str) -> tuple[TextRule, ...]:
        """The rules for texts under a key."""
        return tuple(rule for rule in self.texts if rule.keys is None or rule.keys.matches(key))


def compile_rules(settings: Redact) -> Rules:
    """Raises UsageError with all mistakes."""
    problems: list[str] = []
    digests = Digests(settings.key)
    uses_hash = settings.action == "hash" or any(rule.action == "hash" for rule in settings.rule)
    if uses_hash and not digests.stable:
        problems.append("redact: `hash` needs a key; set TOOLSELECT_REDACT_KEY to a long random text")
    texts: list[TextRule] = []
    for name in settings.patterns:
        shape = SHAPES.get(name)
        if shape is None:
            problems.append(f"redact.patterns: unknown pattern {name!r}; known: {', '.join(SHAPES)}")
        else:
            put = Replacement(_action(settings.action), digests)
            texts.append(TextRule(re2.compile(shape.pattern), put, shape.parts))
    keys: list[KeyRule] = []
    denied = _keys(settings.deny, "redact.deny", problems)
    if denied is not None:
        keys.append(KeyRule(denied, Replacement("drop", digests)))
    for n, rule in enumerate(settings.rule, 1):
        _add(rule, f"redact.rule {n}", digests, keys, texts, problems)
    allow = _keys(settings.allow, "redact.allow", problems)
    if problems:
        raise UsageError("\n".join(problems))
    return Rules(allow, tuple(keys), tuple(texts), digests, _quick(texts, keys))


def _add(
    rule: RedactRule, where: str, digests: Digests, keys: list[KeyRule], texts: list[TextRule], problems: list[str]
) -> None:
    put = Replacement(_action(rule.action), digests)
    matcher = _keys(rule.keys, where, problems)
    if not rule.pattern:
        if matcher is not None:
            keys.append(KeyRule(matcher, put))
        return
    if rule.keys and matcher is None:
        return  # its mistake is noted; without its keys it would hold everywhere
    pattern = _compiled(rule.pattern, where, problems)
    if pattern is not None and pattern.search("") is not None:
        problems.append(f"{where}: the pattern matches the empty text, so it would match everywhere")
    elif pattern is not None:
        texts.append(TextRule(pattern, put, keys=matcher))


def _action(name: str) -> Action:
    return "hash" if name == "hash" else "mask" if name == "mask" else "drop"


def _keys(globs: Iterable[str], where: str, problems: list[str]) -> KeyPattern | None:
    """One pattern that matches a whole key if one of the globs does, and one that finds such names in JSON texts."""
    whole, names = [], []
    anchored = False
    for glob in globs:
        if glob.startswith("/") and glob.endswith("/") and len(glob) > 2:
            if _compiled(glob[1:-1], where, problems) is not None:
                whole.append(f"(?:{glob[1:-1]})")
                names.append(f'[^"]*(?:{glob[1:-1]})[^"]*')
                anchored |= _speaks_of_ends(glob[1:-1])
        else:
            whole.append("^(?:" + _of_glob(glob, ".") + ")$")
            names.append(_of_glob(glob, '[^"]'))
    if not whole:
        return None
    in_json = None if anchored else f'(?is:"(?:{"|".join(names)})\\\\*"\\s*:)'
    return KeyPattern(re2.compile("(?is)" + "|".join(whole)), in_json)


def _of_glob(glob: str, any_character: str) -> str:
    return "".join(any_character + "*" if ch == "*" else any_character if ch == "?" else re2.escape(ch) for ch in glob)


def _compiled(pattern: str, where: str, problems: list[str]) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        problems.append(f"{where}: {pattern!r} is no RE2 pattern: {reason}")
        return None


def _speaks_of_ends(pattern: str) -> bool:
    """Of the beginning or the end of a text; said too often rather than too seldom."""
    return _ANCHOR.search(_CLASS_START.sub("[", pattern)) is not None


def _quick(texts: list[TextRule], keys: list[KeyRule]) -> Any:
    """See `Rules.quick`. Texts are searched all at once, one a line: a pattern that speaks of the beginning or the end
    of a text cannot be looked for like that.
    """
    parts = [rule.keys.in_json for rule in keys] + [rule.pattern.pattern for rule in texts]
    if None in parts or any(_speaks_of_ends(rule.pattern.pattern) for rule in texts):
        return None
    options = re2.Options()
    options.max_mem = _QUICK_MEMORY
    # an alternative, not a set: a set answers "no match" when it runs out of memory
    return re2.compile("|".join(f"(?:{part})" for part in parts), options) if parts else NOTHING
