"""Rules on texts: the text itself, and what JSON inside it says once it is decoded."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence

from otel_toolselect.model.remembered import remembered
from otel_toolselect.otlp.redact.rules import MASK, KeyRule, Rules, TextRule

# strings (a last one may be cut off) and numbers of a JSON text; every character is looked at once
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_MASK = re.compile(r"\*\*\*")
_TOKEN = re.compile(r"\*\*\*|hmac:[0-9a-f]{16}")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ROUNDS = 100
_REPEATED, _REPEATS = 65_536, 1_024
"""Texts whose outcome is remembered within a request: characters of the longest, how many."""
_DEPTH = 8
"""JSON texts inside strings of JSON texts; deeper ones are treated as plain text."""
LONGEST_KEY = 1_024
"""Characters of keys of which it is remembered what applies to them."""
_decoder = json.JSONDecoder()

_LONGEST_ESCAPE = 5  # of \u0041, the characters before its last


class Texts:
    """Applies rules to texts. Same text and key, same outcome."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._quick = rules.quick
        self._any_keys = bool(rules.keys)
        self._seen: dict[tuple[str, str], str] = {}
        self.rules_for = remembered(4_096, LONGEST_KEY)(rules.text_rules)
        self.key_rule = remembered(4_096, LONGEST_KEY)(rules.key_rule)

    def is_token(self, text: str) -> bool:
        """A mask or digest that was put there before."""
        return _TOKEN.fullmatch(text) is not None

    def may_match(self, text: bytes) -> bool:
        """False when no rule does anything to this text, or to any of several texts that are lines of it."""
        if self._quick is None:
            return True
        for _ in range(_DEPTH):
            if self._quick.search(text) is not None:
                return True
            if b"\\" not in text:
                return False
            deeper = unescaped(text.decode(errors="replace")).encode()
            if deeper == text:
                return False
            text = deeper
        return True

    def forget(self) -> None:
        """At the end of a request: texts repeat within one, histories and tool definitions above all."""
        self._seen.clear()

    def clean(self, text: str, key: str = "") -> str:
        """The text as it may be kept; the same object when nothing had to go."""
        if not text or not self.may_match(text.encode()):
            return text
        found = self._seen.get((key, text))
        if found is None:
            found = self._clean(text, self.rules_for(key), _DEPTH)
            if len(text) <= _REPEATED and len(self._seen) < _REPEATS:
                self._seen[key, text] = found
        return text if found == text else found

    def _clean(self, text: str, rules: Sequence[TextRule], depth: int) -> str:
        if not text or not (rules or self._any_keys) or not self.may_match(text.encode()):
            return text
        if depth and text.lstrip()[:1] in ("{", "[", '"'):
            made = _settled(self._json(text, rules, depth), rules, strings_treated=True)
            return made if "\\" not in made or _is_document(made) else _uncovered(made, rules)
        return _uncovered(_settled(text, rules), rules)

    def _json(self, text: str, rules: Sequence[TextRule], depth: int) -> str:
        """The text with every string and number in it treated; everything between them stays as it is."""
        pieces: list[str] = []
        at = 0
        while (found := _LITERAL.search(text, at)) is not None:
            literal = found.group()
            colon = _COLON.match(text, found.end()) if literal[0] == '"' else None
            pieces += (text[at : found.start()], self._literal(literal, rules, depth))
            at = found.end()
            rule = self.key_rule(_decoded(literal)) if colon is not None and self._any_keys else None
            if colon is not None and rule is not None:
                at = _value_end(text, colon.end())
                pieces += (text[found.end() : colon.end()], _in_place_of(text[colon.end() : at], rule))
        if not pieces:
            return text
        made = "".join((*pieces, text[at:]))
        return text if made == text else made

    def _literal(self, literal: str, rules: Sequence[TextRule], depth: int) -> str:
        if literal[0] != '"':
            number = _settled(literal, rules) if self.may_match(literal.encode()) else literal
            return literal if number == literal else json.dumps(number)
        decoded = _decoded(literal)
        cleaned = self._clean(decoded, rules, depth - 1)
        return literal if cleaned == decoded else json.dumps(cleaned, ensure_ascii=False)


def _decoded(literal: str) -> str:
    """What a string literal of JSON says, whole or cut off."""
    inside = literal[1:-1] if len(literal) > 1 and literal[-1] == '"' else literal[1:]
    return unescaped(inside) if "\\" in inside else inside


def unescaped(text: str) -> str:
    """The text with the escapes of JSON strings resolved, wherever they stand; what is no escape stays."""
    first, *rest = text.split("\\")
    pieces = [first]
    after = iter(rest)
    for piece in after:
        if not piece:  # an escaped backslash, and what follows it
            pieces += ("\\", next(after, ""))
        elif piece[0] == "u" and _HEX.match(piece, 1):
            pieces += (chr(int(piece[1:5], 16)), piece[5:])
        elif piece[0] in _ESCAPES:
            pieces += (_ESCAPES[piece[0]], piece[1:])
        else:
            pieces += ("\\", piece)
    made = "".join(pieces)
    return made if made.isascii() else made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _value_end(text: str, start: int) -> int:
    """Where the JSON value that begins here ends; the end of the text where it is cut off."""
    try:
        return _decoder.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return len(text)


def _in_place_of(value: str, rule: KeyRule) -> str:
    """What a member's value becomes: dropping it would leave no JSON."""
    put = rule.put.of(value.strip('"')) or MASK
    return value if _TOKEN.fullmatch(value.strip('"')) else json.dumps(put)


def _settled(text: str, rules: Sequence[TextRule], *, strings_treated: bool = False) -> str:
    """Applies rules until none matches any more, as what one leaves may be what another looks for.

    Two or three rounds are usual. Rules that go on finding something in what they leave get the whole text.
    `strings_treated`: what the strings of this JSON text say, at any depth, has been treated.
    """
    for _ in range(_ROUNDS):
        before = text
        for rule in rules:
            text = _replaced(text, rule, strings_treated)
        if text == before:
            return before
    return MASK


def _uncovered(text: str, rules: Sequence[TextRule]) -> str:
    """A text that is no JSON but has escapes, as a value printed by Python has, or JSON with a word before it: where a
    rule matches once they are resolved (the `n` of a new line is no letter of a key), they are resolved.
    """
    deeper = text
    for _ in range(_DEPTH):
        if "\\" not in deeper:
            break
        deeper = unescaped(deeper)
        cleaned = _settled(deeper, rules)
        if cleaned != deeper:
            text = deeper = cleaned
    return text


def _replaced(text: str, rule: TextRule, strings_treated: bool) -> str:
    pieces: list[str] = []
    at = 0
    token = _TOKEN if rule.put.digests.stable else _MASK
    tokens = [m.span() for m in token.finditer(text)] if MASK in text or "hmac:" in text else []
    begins = [first for first, _ in tokens]
    document: bool | None = None if strings_treated else False
    for match in rule.pattern.finditer(text):
        start, end = match.span()
        if document is not False and _splits_escape(text, start):
            document = _is_document(text) if document is None else document
            if document:
                continue
        parts = rule.parts(match.group()) if rule.parts is not None else ((0, end - start),)
        for low, high in parts:
            before = bisect_right(begins, start + low) - 1
            if before >= 0 and start + high <= tokens[before][1]:
                continue  # within a replacement
            if rule.parts is not None and _is_fraction(text, start + low):
                continue
            pieces += (text[at : start + low], rule.put.of(text[start + low : start + high]))
            at = start + high
    return "".join((*pieces, text[at:])) if pieces else text


def _splits_escape(text: str, at: int) -> bool:
    """Whether what begins here begins within an escape of a JSON string, of this text or of one inside it: the `n` of
    a new line is no letter of a number. A backslash that is itself escaped may begin an escape one level deeper.
    """
    first = text.rfind("\\", max(0, at - _LONGEST_ESCAPE), at)
    return first >= 0 and at < first + (6 if text[first + 1 : first + 2] == "u" else 2)


def _is_document(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_fraction(text: str, at: int) -> bool:
    """Digits behind a decimal point are no number of anything."""
    return at >= 2 and text[at - 1] == "." and text[at - 2].isdigit() and text[at].isdigit()
