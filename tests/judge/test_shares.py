"""Whose is a trace, and how far judging has come: the pure parts of sharing."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.judge.progress import Progress
from otel_toolselect.judge.shares import View, acting
from otel_toolselect.store import Cursor
from otel_toolselect.store.crew_api import Worker

IDS = [f"{n:032x}" for n in range(3_000)]
SECOND = 10**9

cursors = st.builds(Cursor, st.integers(0, 9), st.dictionaries(st.integers(0, 14), st.integers(1, 4), max_size=6)).map(
    lambda c: Cursor(c.settled_ns, {at: rows for at, rows in c.seen.items() if at > c.settled_ns})
)


def told(cursor: Cursor, at: int, rows: int) -> int:
    """How many of the rows of an arrival a reader at the cursor knows."""
    return rows if at <= cursor.settled_ns else min(rows, cursor.seen.get(at, 0))


@given(a=cursors, b=cursors, at=st.integers(0, 15), rows=st.integers(1, 4))
def test_two_cursors_meet_where_both_have_told(a: Cursor, b: Cursor, at: int, rows: int) -> None:
    assert told(a.meet(b), at, rows) == min(told(a, at, rows), told(b, at, rows))
    assert a.meet(b) == b.meet(a)
    assert a.meet(a) == a


def test_shares_are_even_and_a_worker_that_comes_or_goes_moves_no_other_trace() -> None:
    three, two = View(("a", "b", "c")), View(("a", "b"))
    shares = Counter(three.owner(t) for t in IDS)
    assert all(850 < n < 1_150 for n in shares.values())
    assert all(two.owner(t) == three.owner(t) for t in IDS if three.owner(t) != "c")
    assert View().owner("t") is None
    assert View(("a",)).owner("t") == "a"


def test_one_that_joins_holds_back_unless_all_began_together() -> None:
    old, new = Worker("a", 0), Worker("b", 100 * SECOND)
    hold = 10 * SECOND
    assert acting([old, new], 101 * SECOND, hold).names == ("a",)
    assert acting([old, new], 110 * SECOND, hold).names == ("a", "b")
    assert acting([new], 100 * SECOND, hold).names == ("b",)
    assert acting([new, Worker("c", 103 * SECOND)], 103 * SECOND, hold).names == ("b", "c")
    assert acting([], 0, hold) == View()
    assert View().key == ""


def test_progress_goes_as_far_as_everything_before_is_judged() -> None:
    begin, first, second = Cursor(1), Cursor(2), Cursor(3)
    progress = Progress(begin)
    progress.note(10.0, first)
    progress.note(20.0, second)
    assert progress.reached(10.0) == begin  # something that was told of at 10 waits
    assert progress.reached(15.0) == first
    assert progress.reached(float("inf")) == second
    progress.note(30.0, Cursor(4))
    progress.restart(begin)
    assert progress.reached(float("inf")) == begin
