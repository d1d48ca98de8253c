"""Which traces hold a key: the latest are remembered, and to forget the others costs no more than to add them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.judge.bonding import Index

Added = tuple[list[int], str]


def held(index: Index, keys: range) -> dict[int, list[str]]:
    return {key: found for key in keys if (found := index.holders_hashed([key]))}


@given(st.lists(st.tuples(st.lists(st.integers(0, 40), max_size=6), st.sampled_from("abcdef")), max_size=60))
def test_the_latest_keys_are_remembered_with_their_latest_traces(added: list[Added]) -> None:
    index = Index(16, 3)
    last: dict[int, list[str]] = {}
    for keys, trace in added:
        index.add_hashed(keys, trace)
        for key in keys:
            known = last.pop(key, [])
            last[key] = known if trace in known else [*known, trace][-3:]
        found = held(index, range(41))
        latest = list(last)[-16:]
        assert set(latest) <= found.keys()
        assert len(found) <= 16 + 16 // 8
        # a key that was forgotten and came again begins anew: never more than all that were told
        assert all(set(traces) <= set(last[key]) for key, traces in found.items())


def test_forgetting_walks_over_few_of_those_forgotten_before() -> None:
    """The walk to the first key of a dict passes every key deleted since it last grew: counted, not timed."""
    walks = 0

    class Counted(dict[int, tuple[str, ...]]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            nonlocal walks
            walks += 1
            return super().__iter__()

    index = Index(800, 3)
    index._held = Counted()
    for key in range(10_000):
        index.add_hashed([key], "t")
    assert walks <= 10_000 // 100 + 1
    assert held(index, range(9_200, 10_000)).keys() == set(range(9_200, 10_000))
