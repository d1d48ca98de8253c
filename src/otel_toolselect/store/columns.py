"""Columns of Python values to Arrow and back: the one format in which rows travel, embedded and over HTTP.

Arrow is built from flat lists (all keys of all maps in one list, with offsets), which costs a third of what building
from nested lists costs. Text travels as bytes, because a ClickHouse String may hold any bytes, and text from JSON may
hold lone surrogates, which UTF-8 cannot spell.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Any

import pyarrow as pa

TEXT = pa.binary()
TIME = pa.timestamp("ns", tz="UTC")
UINT64, INT64, UINT32, UINT8 = pa.uint64(), pa.int64(), pa.uint32(), pa.uint8()
DOUBLE, BOOL = pa.float64(), pa.bool_()

MAX_TIME_NS = 2**63 - 1
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class BrokenStreamError(ValueError):
    """Bytes that are no whole Arrow stream."""


def column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """One Arrow array; None is null. Times are nanoseconds, cut to what DateTime64(9) can hold (the year 2262)."""
    if kind == TEXT:
        return _text(values)
    if kind == TIME:
        return pa.array([min(v, MAX_TIME_NS) for v in values], INT64).cast(TIME)
    return pa.array(values, kind)


def _text(values: Sequence[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.string()).cast(TEXT)
    except UnicodeEncodeError:
        return pa.array([None if v is None else v.encode("utf-8", "surrogatepass") for v in values], TEXT)


def attributes(rows: Sequence[Any], names: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """The values of each attribute in all rows: read in one pass, which takes a third of a pass for each."""
    names = tuple(names)
    if not rows:
        return dict.fromkeys(names, ())
    return dict(zip(names, zip(*map(attrgetter(*names), rows), strict=True), strict=True))


def known(rows: Sequence[Any], wanted: Mapping[str, tuple[str, pa.DataType]]) -> dict[str, pa.Array]:
    """Columns by name, each of an attribute and of a type, but for those that are null in every row: that is what a
    table has for a Nullable column that is not given.
    """
    found = attributes(rows, (attribute for attribute, _ in wanted.values()))
    return {
        name: column(values, kind)
        for name, (attribute, kind) in wanted.items()
        if (values := found[attribute]).count(None) < len(values)
    }


class Lists:
    """Builds an Array column, or several of equal lengths: `offsets` says where each row's items end."""

    def __init__(self) -> None:
        self.offsets: list[int] = [0]

    def end_row(self, count: int) -> None:
        self.offsets.append(self.offsets[-1] + count)

    def of(self, items: pa.Array) -> pa.Array:
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), items)


class Maps:
    """Builds a Map(String, String) column: append to `keys` and `texts`, then `end_row`."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.texts: list[str] = []
        self.offsets: list[int] = [0]

    def end_row(self) -> None:
        self.offsets.append(len(self.keys))

    def array(self) -> pa.Array:
        return pa.MapArray.from_arrays(pa.array(self.offsets, pa.int32()), _text(self.keys), _text(self.texts))


def nested(rows: Sequence[Sequence[Any]], kind: pa.DataType) -> pa.Array:
    """An Array column of plain values, one list per row."""
    return grouped(rows, column(list(chain.from_iterable(rows)), kind))


def grouped(rows: Iterable[Sized], items: pa.Array) -> pa.Array:
    """An Array column of the items of all rows, which follow each other; of each row its length is asked."""
    return pa.ListArray.from_arrays(pa.array(list(accumulate(map(len, rows), initial=0)), pa.int32()), items)


def to_ipc(columns: Mapping[str, pa.Array], max_bytes: int, codec: pa.Codec | None = None) -> Iterator[bytes]:
    """The rows as bodies of `INSERT ... FORMAT Arrow`, each of about `max_bytes` before `codec`, or of one row."""
    options = None if codec is None else pa.ipc.IpcWriteOptions(compression=codec)
    table = pa.table(dict(columns))
    rows = max(1, int(table.num_rows * max_bytes / max(table.nbytes, max_bytes)))
    for start in range(0, table.num_rows, rows):
        sink = io.BytesIO()  # gives its bytes away without a copy, which Arrow's own buffer does not
        with pa.ipc.new_file(sink, table.schema, options=options) as writer:
            writer.write_table(table.slice(start, rows))
        yield sink.getvalue()


def from_ipc(body: bytes) -> dict[str, list[Any]]:
    """Columns of Python values out of an Arrow stream: text as str, maps as dicts, arrays as lists.

    `BrokenStreamError` unless `body` is one whole stream: Arrow itself takes the end of the data for the end of a
    stream, so that an answer which broke off between two batches would be an answer with fewer rows.
    """
    try:
        table = _table(body)
    except (pa.ArrowException, OSError) as error:
        raise BrokenStreamError(str(error)) from error
    found: dict[str, list[Any]] = {}
    for name, chunked in zip(table.column_names, table.columns, strict=True):
        found[name] = [value for chunk in chunked.chunks for value in _values(chunk)]
    return found


def _table(body: bytes) -> pa.Table:
    source = pa.BufferReader(body)
    batches = []
    with pa.ipc.open_stream(source) as reader:
        while True:
            end = source.tell()
            try:
                batches.append(reader.read_next_batch())
            except StopIteration:
                break
        if body[end:] != _END_OF_STREAM:
            raise BrokenStreamError(f"{len(body) - end} bytes where the end of the stream should be")
        return pa.Table.from_batches(batches, reader.schema)


def _values(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_binary(kind):
        return _strings(array)
    if pa.types.is_dictionary(kind):
        words = [*_values(array.dictionary), None]  # the last one is what a missing number stands for
        return list(map(words.__getitem__, array.indices.fill_null(len(words) - 1).to_pylist()))
    if pa.types.is_map(kind):
        keys, texts = _values(array.keys), _values(array.items)
        offsets = array.offsets.to_pylist()
        return [dict(zip(keys[a:b], texts[a:b], strict=True)) for a, b in pairwise(offsets)]
    if pa.types.is_list(kind):
        items, offsets = _values(array.values), array.offsets.to_pylist()
        return [items[a:b] for a, b in pairwise(offsets)]
    return array.to_pylist()  # type: ignore[no-any-return]


def _strings(array: pa.Array) -> list[str | None]:
    try:
        return array.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        return [None if v is None else _string(v) for v in array.to_pylist()]


def _string(raw: bytes) -> str:
    """Text of any bytes: UTF-8, else with the surrogates that we let pass, else what can be read of it."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")
