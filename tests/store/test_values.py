from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.store.attributes import AttributeMaps, Shared
from otel_toolselect.store.columns import BrokenStreamError, from_ipc
from otel_toolselect.store.values import decode, decode_items, encode, read_shape, shape_text

from .builders import attributes
from .contract.spans import same


@given(st.lists(attributes, max_size=4))
def test_rows_of_attributes_round_trip(sent: list[dict[str, Any]]) -> None:
    maps = AttributeMaps()
    codes = [maps.add(row) for row in [*sent, *sent]]
    for row, found, code in zip([*sent, *sent], maps.array().to_pylist(), codes, strict=True):
        texts = {key.decode(): text.decode("utf-8", "surrogatepass") for key, text in found}
        assert list(texts) == sorted(row)
        assert same(decode_items(texts, read_shape(shape_text({"s": code})).get("s", {})), row)


def test_one_layout_may_hold_lists_with_and_without_bytes() -> None:
    maps = AttributeMaps()
    plain, tagged = maps.add({"a": ["x"]}), maps.add({"a": [b"x"]})
    assert (plain, tagged, maps.add({"a": ["y"]})) == ({"a": "j"}, {"a": "t"}, plain)


def test_rows_of_one_object_are_encoded_once() -> None:
    shared, resource = Shared(), {"service.name": "shop", "n": 1}
    assert shared.add(resource) is shared.add(resource)
    assert shared.add({"n": 2}) == {"n": "i"}
    assert shared.array().to_pylist() == [[(b"n", b"1"), (b"service.name", b"shop")]] * 2 + [[(b"n", b"2")]]


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


def test_a_stream_is_read_as_a_whole_or_not_at_all() -> None:
    sink = io.BytesIO()
    # four bytes of ones and four of noughts are how a stream ends: here they also end each batch
    batches = [pa.record_batch({"n": pa.array([i, 2**32 - 1], pa.uint64())}) for i in range(3)]
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    whole = sink.getvalue()
    assert from_ipc(whole) == {"n": [0, 2**32 - 1, 1, 2**32 - 1, 2, 2**32 - 1]}
    for end in range(len(whole)):
        with pytest.raises(BrokenStreamError):
            from_ipc(whole[:end])
    for more in (b"\n", b"\r\n__exception__\r\n", whole):
        with pytest.raises(BrokenStreamError):
            from_ipc(whole + more)


def test_words_that_travel_as_numbers_come_back_as_words() -> None:
    # LowCardinality columns, plain and as keys of maps; every batch may bring a dictionary of its own
    sink = io.BytesIO()
    words = pa.dictionary(pa.int32(), pa.binary())
    schema = pa.schema([("word", words), ("map", pa.map_(words, pa.binary()))])
    rows = [["a", None, "b"], ["c", "a", "\xe9"]]
    with pa.ipc.new_stream(sink, schema) as writer:
        for some in rows:
            plain = pa.array([None if w is None else w.encode() for w in some], pa.binary()).dictionary_encode()
            keys = pa.array([b"k", str(some[2]).encode()], pa.binary()).dictionary_encode()
            maps = pa.MapArray.from_arrays(
                pa.array([0, 2, 2, 2], pa.int32()), keys, pa.array([b"1", b"2"], pa.binary())
            )
            writer.write_batch(pa.record_batch([plain, maps], schema))
    found = from_ipc(sink.getvalue())
    assert found["word"] == [word for some in rows for word in some]
    assert found["map"] == [{"k": "1", "b": "2"}, {}, {}, {"k": "1", "\xe9": "2"}, {}, {}]
