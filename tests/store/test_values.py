from __future__ import annotations

import pytest
from hypothesis import given

from otel_toolselect.store.columns import from_ipc
from otel_toolselect.store.values import decode, decode_items, encode, encode_items, read_shape, shape_text

from .builders import attributes
from .contract.suite import same


@given(attributes)
def test_items_round_trip(sent: dict[str, object]) -> None:
    keys: list[str] = []
    texts: list[str] = []
    codes = encode_items(sent, keys, texts)
    shape = read_shape(shape_text({"s": codes}, {}))
    assert same(decode_items(dict(zip(keys, texts, strict=True)), shape.get("s", {})), sent)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, ""),
        (3, "3"),
        (3.0, "3"),
        (0.1, "0.1"),
        (b"\x00", "AA=="),
        ({"b": 1, "a": [None]}, '{"a":[null],"b":1}'),
    ],
)
def test_texts_are_spelled_as_by_the_exporter(value: object, text: str) -> None:
    assert encode(value)[0] == text  # type: ignore[arg-type]


def test_what_is_no_shape_means_no_types() -> None:
    assert read_shape("no json") == {}
    assert read_shape("[1]") == {}
    assert decode("text", "code of a later version") == "text"
    assert decode_items({"a": "1"}, {"a": "i", "gone": "i"}) == {"a": 1}


def test_nothing_is_no_columns() -> None:
    assert from_ipc(b"") == {}
