"""The quick reader of JSON reads what Python's own reads, and as it reads it, but for what is no character."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from otel_toolselect.dialects._coerce import structure
from otel_toolselect.dialects._parsing import parse_json
from otel_toolselect.model.values import whole

ODD = (
    "-0", "-0.0", "1E400", "1e-400", "NaN", "-Infinity", "01", "1.", ".5", "+1", '"\\ud800"', '"\\ud83d\\ude00"',
    '"\ud800"', '"a\nb"', '"\x7f"', '{"a":1,"a":2}', '{"b":1,"a":2,"b":3}', " [1] ", "\ufeff[1]", "[1,]", "[1 2]", "",
    "1" * 30, "1" * 5_000, "9007199254740993.0", "2.2250738585072011e-308", '"\\x"', "[1]\u00a0", "\x0b[1]", '{"":1}',
    "[" * 90 + "]" * 90,
)  # fmt: skip
SEEDS = ('{"a":[1,2.5e3,"x\\n",null,true]}', '[-1.0e-5,"\\u00e9",{"k":{}}]', '"text"', "-12.5")
LETTERS = "{}[]\":,0129.eE+-truefalsnNIiy\\u d8\n\t'/é"


def by_the_book(text: str) -> Any:
    try:
        return whole(json.loads(text))
    except ValueError:
        return None


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text)[:20])
def test_odd_texts(text: str) -> None:
    assert same(parse_json(text), by_the_book(text))


@pytest.mark.parametrize(
    "text", ['{"said": "Done \\ud83d", "\\udc00": [1]}', "{'said': 'Done \\ud83d', '\\udc00': [1]}"]
)
def test_half_of_an_emoji_goes_no_further(text: str) -> None:
    """Patterns (RE2) and stores read UTF-8, which cannot spell it: one cut text would cost a trace its verdict."""
    assert structure(text) == {"said": "Done \ufffd", "\ufffd": [1]}


def test_texts_with_a_few_letters_changed() -> None:
    chance = random.Random(7)
    for _ in range(20_000):
        letters = list(chance.choice(SEEDS))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(letters))
            letters[at : at + chance.randint(0, 1)] = [chance.choice(LETTERS)]
        text = "".join(letters)
        assert same(parse_json(text), by_the_book(text)), text


def test_floats_are_those_of_python() -> None:
    chance = random.Random(8)
    for _ in range(5_000):
        value = chance.uniform(-1, 1) * 10.0 ** chance.randint(-320, 308)
        found = parse_json(repr(value))
        assert isinstance(found, float)
        assert math.copysign(1, found) == math.copysign(1, value)
        assert found == value
