"""A Map column of attributes under construction, in one pass over the values.

Spans of one kind have the same keys with the same types. What follows from these alone (the order of the keys, which
values are no strings, their codes) is worked out once per combination and insert: the *layout*. Keys are sorted, so
that equal attributes are equal rows whatever order the sender chose, and travel as numbers into one list of words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pyarrow as pa

from otel_toolselect.model.spans import Attributes
from otel_toolselect.store import columns as c
from otel_toolselect.store.values import CODES, Codes, encode


@dataclass(frozen=True, slots=True)
class _Layout:
    """`pick` gives the values in order of their keys; `others` are the positions of those that are no strings."""

    keys: tuple[int, ...]
    names: tuple[str, ...]
    pick: Callable[[Attributes], tuple[Any, ...]]
    others: tuple[int, ...]
    codes: Codes


class AttributeMaps:
    """Builds the column: `add` a row after the other, then `array`."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._layouts: dict[tuple[tuple[str, ...], tuple[type, ...]], _Layout] = {}
        self._keys: list[int] = []
        self._texts: list[str] = []
        self._offsets: list[int] = [0]

    def add(self, attributes: Attributes) -> Codes:
        """Append a row; returns the codes of its values. Rows of one layout share one object, mostly."""
        kind = tuple(attributes), tuple(map(type, attributes.values()))
        layout = self._layouts.get(kind)
        if layout is None:
            layout = self._layouts[kind] = self._layout(*kind)
        values, codes = layout.pick(attributes), layout.codes
        self._keys += layout.keys
        if layout.others:
            texts = list(values)
            for i in layout.others:
                texts[i], code = encode(values[i])
                if code != codes[layout.names[i]]:
                    codes = codes | {layout.names[i]: code}
            self._texts += texts
        else:
            self._texts += values
        self._offsets.append(len(self._texts))
        return codes

    def _layout(self, keys: tuple[str, ...], types: tuple[type, ...]) -> _Layout:
        pairs = sorted(zip(keys, types, strict=True), key=itemgetter(0))
        names = tuple(name for name, _ in pairs)
        return _Layout(
            keys=tuple(self._words.setdefault(name, len(self._words)) for name in names),
            names=names,
            pick=_picker(names),
            others=tuple(i for i, (_, kind) in enumerate(pairs) if kind is not str),
            codes={name: CODES[kind] for name, kind in pairs if kind is not str},
        )

    def array(self) -> pa.Array:
        words = pa.DictionaryArray.from_arrays(pa.array(self._keys, pa.int32()), c.column(list(self._words), c.TEXT))
        return pa.MapArray.from_arrays(pa.array(self._offsets, pa.int32()), words, c.column(self._texts, c.TEXT))


def _picker(names: tuple[str, ...]) -> Callable[[Attributes], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda attributes: tuple(attributes.values())


class Shared:
    """A column of attributes that many rows share as one object, as the spans of a request do their resource.

    Each object is encoded once, and its row repeated by Arrow.
    """

    def __init__(self) -> None:
        self._maps = AttributeMaps()
        self._rows: list[int] = []
        self._seen: dict[int, tuple[int, Codes]] = {}

    def add(self, attributes: Attributes) -> Codes:
        found = self._seen.get(id(attributes))
        if found is None:
            found = self._seen[id(attributes)] = len(self._seen), self._maps.add(attributes)
        self._rows.append(found[0])
        return found[1]

    def array(self) -> pa.Array:
        return self._maps.array().take(pa.array(self._rows, pa.int32()))
