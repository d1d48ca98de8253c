"""Rules on texts: what they find, what they leave alone, and that nothing survives."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from otel_toolselect.config import Redact, RedactRule
from otel_toolselect.errors import UsageError
from otel_toolselect.otlp.redact import redactor
from otel_toolselect.otlp.redact.patterns import SHAPES
from otel_toolselect.otlp.redact.rules import compile_rules
from otel_toolselect.otlp.redact.texts import Texts, unescaped

KEY = "a long random text"
CARD = "4111111111111111"
IBAN = "DE89370400440532013000"


def texts(*rules: RedactRule, **settings: Any) -> Texts:
    return Texts(compile_rules(Redact(rule=rules, key=KEY, **settings)))


FOUND = {
    "email": ["bob@example.com", "Jörg.O'Hara+x@mail.example.co.uk"],
    "card": [CARD, "4111 1111 1111 1111", "4111-1111-1111-1111", "5500005555555559", "3782 822463 10005", "_" + CARD],
    "iban": [IBAN, "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"],
    "bearer": ["Bearer abcdef123456", "authorization: bearer eyJx.y_z-123", "Basic dXNlcjpwYXNz"],
    "api_key": [
        "sk-proj-abcdefghijklmnop1234",
        "sk-ant-api03-AAAABBBBCCCCDDDD_x",
        "ghp_0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
    ],
    "jwt": ["eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl"],
    "private_key": ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"],
    "password": ["password=hunter2", "api_key: abc"],
    "url_password": ["postgres://joe:hunter2@db/x"],
    "ip": ["192.168.1.254", "2001:db8:0:0:0:0:0:1"],
    "phone": ["+1 (202) 555-0123", "030 1234567"],
    "ssn": ["078-05-1120"],
}
LEFT = {
    "email": ["a@b", "@example.com", "user at example.com"],
    "card": ["4111111111111112", "0.5299999713897705", "1790000000001000000", "41111111", "x4111111111111111y"],
    "iban": ["DE88370400440532013000", "AB12 short"],
    "bearer": ["the bearer of news"],
    "api_key": ["sk-short", "task-force-abcdefghijklmnop"],
    "ip": ["1.2.3", "999.1.1.1"],
    "ssn": ["078-05-11200"],
    "password": ["the password is long"],
}


@pytest.mark.parametrize(("name", "secret"), [(n, s) for n, found in FOUND.items() for s in found])
def test_shapes_find_secrets_wherever_they_stand(name: str, secret: str) -> None:
    clean = texts(patterns=(name,)).clean
    for text in (secret, f"before {secret} after", f"({secret})", json.dumps({"k": [secret]})):
        kept = clean(text)
        assert "***" in kept
        assert secret.strip("_")[-8:] not in kept
        assert clean(kept) == kept
    nested = json.dumps({"a": json.dumps({"b": f"line\n{secret}\tx"})})
    assert secret.strip("_")[-8:] not in clean(nested)
    assert json.loads(json.loads(clean(nested))["a"])["b"].startswith("line\n")


@pytest.mark.parametrize(("name", "secret"), [(n, s) for n, found in FOUND.items() for s in found])
def test_escapes_outside_of_json_do_not_hide_what_follows(name: str, secret: str) -> None:
    clean = texts(patterns=(name,)).clean
    inside = json.dumps({"k": f"line\n{secret}"}, ensure_ascii=False)
    for text in (f"Result: {inside}", repr({"k": f"it's\t{secret}"}), json.dumps({"a": f"Result: {inside}"})):
        kept = clean(text)
        assert secret.strip("_")[-8:] not in kept
        assert clean(kept) == kept
    harmless = 'Result: {"k": "C:\\\\new\\nline"}'
    assert clean(harmless) is harmless


def test_every_shape_is_tried() -> None:
    assert set(FOUND) == set(SHAPES)


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, left in LEFT.items() for t in left])
def test_what_only_looks_like_one_stays(name: str, text: str) -> None:
    assert texts(patterns=(name,)).clean(text) == text


def test_a_card_among_other_digits() -> None:
    clean = texts(patterns=("card",)).clean
    assert clean("22 4111 1111 1111 1111") == "22 ***"
    assert clean("4000 4111 1111 1111 1111") == "4000 ***"
    assert clean("4111 1111 1111 1111 12") in ("*** 12", "***")
    assert clean('{"n": 4111111111111111, "m": 0.4111111111111111}') == '{"n": "***", "m": 0.4111111111111111}'


def test_actions() -> None:
    for action, kept in (("mask", "to *** now"), ("drop", "to  now")):
        assert texts(patterns=("email",), action=action).clean("to a@b.de now") == kept
    hashing = texts(patterns=("email",), action="hash")
    kept = hashing.clean("a@b.de, c@d.de, a@b.de")
    first, second, third = kept.split(", ")
    assert first == third != second
    assert re.fullmatch("hmac:[0-9a-f]{16}", first)
    assert hashing.clean(kept) == kept
    other = Texts(compile_rules(Redact(patterns=("email",), action="hash", key="another")))
    assert other.clean("a@b.de") != first


def test_formatting_and_numbers_of_json_stay_as_they_are() -> None:
    text = '{ "a":1.50,"b" : 12345678901234567890, "mail":"a@b.de","é":"\\u00e9\\n" ,"a":[true,null] }'
    assert texts(patterns=("email",)).clean(text) == text.replace("a@b.de", "***")


def test_escapes_do_not_hide() -> None:
    clean = texts(patterns=("email", "api_key")).clean
    assert clean('{"m": "bob\\u0040example.com"}') == '{"m": "***"}'
    assert "abcdefghijklmnop" not in clean('["x\\nsk-abcdefghijklmnop1234"]')
    cut = '{"m": "x\\nsk-abcdefghijklmnop1234'
    assert "abcdefghijklmnop" not in clean(cut)
    deep: Any = "bob@example.com"
    for _ in range(6):
        deep = json.dumps({"x": deep})
    assert "bob" not in clean(deep)


def test_members_are_denied_by_name_at_any_depth() -> None:
    clean = texts(deny=("*password*", "/^pin$/")).clean
    text = json.dumps(
        {"a": {"userPassword": {"x": [1, 2]}, "pin": 1234, "spin": 5}, "t": json.dumps({"PASSWORD": "s"})}
    )
    kept = json.loads(clean(text))
    assert kept["a"] == {"userPassword": "***", "pin": "***", "spin": 5}
    assert json.loads(kept["t"]) == {"PASSWORD": "***"}
    assert clean(clean(text)) == clean(text)
    assert "1234" not in clean('{"pin": [1234, 5')
    plain = '{"no": "such member"}'
    assert clean(plain) is plain


def test_rules_may_hold_for_some_keys_only() -> None:
    rules = texts(RedactRule(keys=("user.*",), pattern=r"\d+"))
    assert rules.clean("room 12", "user.note") == "room ***"
    assert rules.clean("room 12", "other") == "room 12"


def test_what_one_rule_leaves_another_may_find() -> None:
    rules = texts(RedactRule(pattern="ab", action="drop"))
    assert rules.clean("aabb") == ""
    rules = texts(RedactRule(pattern="x", action="drop"), RedactRule(pattern="secret"))
    assert rules.clean("sexcret") == "***"
    assert texts(RedactRule(pattern=r"\*+|a")).clean("a*") == "***"


def test_rules_that_never_settle_take_the_whole_text() -> None:
    rules = texts(RedactRule(pattern=r"c:[0-9a-f]{16}x|m", action="hash"))
    kept = rules.clean("mmx")
    assert rules.clean(kept) == kept


def test_all_mistakes_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        redactor(
            Redact(
                patterns=("email", "cards"),
                deny=("/(/",),
                rule=(RedactRule(pattern="a(?=b)"), RedactRule(pattern="a*"), RedactRule(pattern="x", action="hash")),
            )
        )
    message = str(caught.value)
    for part in ("'cards'; known: ", "redact.deny: '('", "redact.rule 1: ", "redact.rule 2: ", "TOOLSELECT_REDACT_KEY"):
        assert part in message
    assert redactor(Redact()) is None


WORDS = st.sampled_from(
    ["a@b.de", CARD, IBAN, "sk-abcdefghijklmnop12", "x", "\n", '"', "\\", "é", "{", "}", " ", "***", "1"]
)
TEXT = st.lists(WORDS, max_size=6).map("".join)
DOCUMENTS = st.recursive(
    TEXT | st.integers(-(10**19), 10**19) | st.booleans() | st.none() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ALL = texts(patterns=("email", "card", "iban", "api_key"))


def matches(text: str) -> bool:
    """Does a shape match, said by Python's own expressions and arithmetic."""
    if re.search(rf"[\w.%+'-]+@[\w-]+(\.[\w-]+)+|\bsk-[a-z0-9]{{16,}}|\b{IBAN}", text, re.ASCII):
        return True
    return re.search(r"(?<![0-9A-Za-z.])4111111111111111(?![0-9A-Za-z])", text) is not None


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(leaf for v in value.values() for leaf in leaves(v))]
    if isinstance(value, list):
        return [leaf for v in value for leaf in leaves(v)]
    return [str(value)]


@given(TEXT)
def test_nothing_that_matches_survives_in_a_text(text: str) -> None:
    kept = ALL.clean(text)
    assert not matches(kept)
    assert ALL.clean(kept) == kept
    if not matches(text) and not any(ch.isdigit() for ch in text):
        assert kept == text


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [shape(v) for v in value.values()]
    return [shape(v) for v in value] if isinstance(value, list) else 0


@example([["\nx4111111111111111"]], False, 1)  # nor is it in JSON within JSON
@example([["\x004111111111111111"]], True, 2)
@example({"": "\nx4111111111111111"}, False, 0)  # no IBAN: the n is that of a new line
@example({"": "\x004111111111111111"}, True, 0)  # no card: some of the digits are of an escape
@given(DOCUMENTS, st.booleans(), st.integers(0, 2))
def test_json_keeps_its_structure_and_loses_its_secrets(document: Any, ascii_only: bool, wraps: int) -> None:
    assume(isinstance(document, (dict, list)))
    text = json.dumps(document, ensure_ascii=ascii_only)
    for _ in range(wraps):
        text = json.dumps({"x": text}, ensure_ascii=ascii_only)
    kept: Any = ALL.clean(text)
    assert ALL.clean(kept) == kept
    for _ in range(wraps):
        kept = json.loads(kept)["x"]
    made = json.loads(kept)
    assert not any(matches(leaf) for leaf in leaves(made))
    if not any(matches(leaf) for leaf in leaves(document)):
        assert kept == json.dumps(document, ensure_ascii=ascii_only) or "***" in kept
    if len(leaves(made)) == len(leaves(document)):  # names that became the same are one
        assert shape(made) == shape(document)


@given(st.text(), st.booleans())
def test_unescaped_is_what_json_says(text: str, ascii_only: bool) -> None:
    plain = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert unescaped(json.dumps(plain, ensure_ascii=ascii_only)[1:-1]) == plain


@given(st.lists(TEXT, max_size=6))
def test_many_texts_at_once_find_what_each_would(found: list[str]) -> None:
    joined = "\n".join(found).encode()
    if any(ALL.clean(text) != text for text in found):
        assert ALL.may_match(joined)
