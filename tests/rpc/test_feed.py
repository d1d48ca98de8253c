"""Places in a stream and what is told from them, without network and store."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.errors import InputError
from otel_toolselect.model.decisions import Decision
from otel_toolselect.rpc import decoding
from otel_toolselect.rpc.feed import PER_MESSAGE, Feed, Filters
from otel_toolselect.rpc.places import Part, Place, key_of, parse
from otel_toolselect.store import Cursor, Judged, Kept

NOW = 10**18


def decision(i: int, suite: str = "s", status: str = "pass") -> Decision:
    return Decision(suite, "", f"run-{i:04}", "t", "", i, status, "find", "call")  # type: ignore[arg-type]


class Shelf:
    """As a store whose inserts become visible when they are put here; nothing is settled."""

    def __init__(self, *inserts: tuple[int, list[Decision]]) -> None:
        self.inserts = dict(inserts)
        self.asked: list[str | None] = []

    def judged_since(self, since: Cursor | None = None, limit: int = 1_000, *, tenant: str | None = None) -> Judged:
        seen = since.seen if since else {}
        self.asked.append(tenant)
        grown = [at for at in sorted(self.inserts) if len(self.inserts[at]) > seen.get(at, 0)]
        kept = [Kept(one, at) for at in grown for one in self.inserts[at]]
        return Judged(tuple(kept), Cursor(0, {**seen, **{at: len(self.inserts[at]) for at in grown}}))


def feed(shelf: Shelf, **filters: frozenset[str]) -> Feed:
    return Feed(shelf, "a", Filters(**filters))  # type: ignore[arg-type]


def told(turn, before: Place) -> list[tuple[str, str]]:
    """(run id, cursor) of what a turn tells, as a client makes it."""
    found, place = [], str(before)
    for message in turn.messages:
        found += [(decoding.decision(v.decision).run_id, place + v.cursor_suffix) for v in message.verdicts]
        place = message.cursor
    return found


def test_from_each_place_the_rest_is_told() -> None:
    shelf = Shelf((NOW, [decision(i) for i in range(450)]), (NOW + 1, [decision(i) for i in range(450, 460)]))
    start = Place(Cursor())
    whole = told(feed(shelf).turn(start), start)
    assert [run for run, _ in whole] == [f"run-{i:04}" for i in range(460)]
    for at in (0, 1, PER_MESSAGE - 1, PER_MESSAGE, 449, 450, 455):
        place = parse(whole[at][1])
        rest = told(feed(shelf).turn(place), place)
        assert [run for run, _ in rest] == [run for run, _ in whole[at + 1 :]]
    last = feed(shelf).turn(start).place
    assert feed(shelf).turn(last).messages == ()


def test_messages_are_small_and_the_last_of_an_insert_is_past_it() -> None:
    shelf = Shelf((NOW, [decision(i) for i in range(450)]))
    turn = feed(shelf).turn(Place(Cursor()))
    assert [len(m.verdicts) for m in turn.messages] == [200, 200, 50]
    assert [parse(m.cursor).part is None for m in turn.messages] == [False, False, True]
    assert parse(turn.messages[-1].cursor) == turn.place


def test_what_comes_late_under_a_time_that_was_told_is_told_and_nothing_twice() -> None:
    shelf = Shelf((NOW, [decision(5)]))
    following = feed(shelf)
    turn = following.turn(Place(Cursor()))
    shelf.inserts[NOW].insert(0, decision(1))  # becomes visible after, and stands before
    assert [run for run, _ in told(following.turn(turn.place), turn.place)] == ["run-0001"]


def test_after_a_break_within_an_insert_that_grew_all_of_it_is_told_again() -> None:
    shelf = Shelf((NOW, [decision(2), decision(3)]))
    start = Place(Cursor())
    (_, cursor), _ = told(feed(shelf).turn(start), start)
    shelf.inserts[NOW].insert(0, decision(1))
    place = parse(cursor)
    assert [run for run, _ in told(feed(shelf).turn(place), place)] == ["run-0001", "run-0002", "run-0003"]


def test_filters_and_tenant() -> None:
    mixed = [decision(1), decision(2, status="fail"), decision(3, "other"), decision(4, "")]
    shelf, start = Shelf((NOW, mixed)), Place(Cursor())

    def runs(**filters: frozenset[str]) -> list[int]:
        return [int(run[4:]) for run, _ in told(feed(shelf, **filters).turn(start), start)]

    assert sorted(runs()) == [1, 2, 3]
    assert runs(suites=frozenset({"other"})) == [3]
    assert runs(suites=frozenset({""})) == [4]
    assert runs(statuses=frozenset({"fail"})) == [2]
    assert runs(agents=frozenset({"x"})) == []
    assert set(shelf.asked) == {"a"}


@settings(max_examples=50)
@given(
    st.integers(0, 2**62),
    st.dictionaries(st.integers(0, 2**62), st.integers(1, 2**40), max_size=5),
    st.none() | st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 2**64)),
)
def test_places_are_written_and_read(settled: int, seen: dict[int, int], part: tuple[str, int] | None) -> None:
    key = None if part is None else Part(settled, 7, (part[0], part[1], "run", part[0]))
    place = Place(Cursor(settled, seen), key)
    assert parse(str(place)) == place
    if key is not None:
        assert parse(str(place) + str(key)) == place  # the last part holds
        assert place.told_of(settled, 7, key.last)
        assert not place.told_of(settled, 8, key.last)


@settings(max_examples=100)
@given(st.text(max_size=40) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")))
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="cursor"):
        parse(text)


def test_a_bomb_is_none_either() -> None:
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(b"[" * 20_000_000)).decode()
    with pytest.raises(InputError, match="cursor"):
        parse(bomb)


def test_the_key_of_a_decision_tells_all_of_one_insert_apart() -> None:
    assert key_of(decision(1)) != key_of(decision(1, "other")) != key_of(decision(2))
