"""What is remembered of what senders choose stays within bytes, not only within a number of entries."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from otel_toolselect.model.remembered import remembered
from otel_toolselect.rules import Policy
from otel_toolselect.rules.kinds import schema


class Made:
    """What was made of a text, to see whether it is kept."""


def test_what_long_texts_give_is_not_kept() -> None:
    @remembered(most=10, longest=5)
    def make(text: str) -> Made:
        return Made()

    assert make("short") is make("short")
    assert make("longer") is not make("longer")
    kept, left = weakref.ref(make("five!")), weakref.ref(make("sixsix"))
    gc.collect()
    assert kept() is not None
    assert left() is None


def test_other_arguments_count_too() -> None:
    @remembered(most=10, longest=5)
    def add(text: str, number: int) -> str:
        return f"{text}{number}"

    assert [add("a", 1), add("a", 2), add("longer", 3)] == ["a1", "a2", "longer3"]


def test_a_policy_keeps_no_long_spellings() -> None:
    policy = Policy(aliases={"x" * 9_000: "book"})
    assert policy.read("x" * 9_000, None).name == "book"
    assert policy.read("search", "s" * 9_000).name == "search"
    assert not policy._known
    assert policy.read("search", "shop") is policy.read("search", "shop")


def of_patterns(count: int) -> dict[str, Any]:
    return {"properties": {f"p{n}": {"type": "string", "pattern": "^a"} for n in range(count)}}


def test_schemas_stay_compiled_within_a_number_of_validators() -> None:
    schema._known.clear()
    schema._known.validators = 0
    schemas = [of_patterns(500) for _ in range(20)]
    for one in schemas:
        compiled = schema.compiled_schema(one)
        assert compiled is schema.compiled_schema(one)
        held = sum(c.validators for _, c in schema._known.values() if c is not None)
        assert held == schema._known.validators <= schema._VALIDATORS
    assert len(schema._known) < len(schemas)
    before = dict(schema._known)
    assert schema.compiled_schema(of_patterns(2_000)) is not None
    assert schema._known == before
