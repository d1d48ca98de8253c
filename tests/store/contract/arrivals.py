"""What every store must tell of what came since a cursor, spans and decisions alike; part of the one suite."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from otel_toolselect.store import Cursor, Store
from tests.store.builders import decision, log, run, span


class ArrivalsContract:
    # arrivals

    def test_arrivals_tell_of_what_came_since_the_cursor(self, store: Store) -> None:
        assert store.arrivals().trace_ids == ()
        store.insert([span(1), span(2)], [log(3), log(trace_id="")])
        first = store.arrivals()
        assert (first.trace_ids, first.more) == (tuple(f"{n:032x}" for n in (1, 2, 3)), False)
        assert store.arrivals(first.cursor).trace_ids == ()
        store.insert([span(2, 7), span(4)], [])
        kept = Cursor.parse(str(first.cursor))  # as a bookmark keeps it
        second = store.arrivals(kept)
        assert second.trace_ids == (f"{2:032x}", f"{4:032x}")
        assert store.arrivals(second.cursor).trace_ids == ()
        assert store.arrivals(first.cursor).trace_ids == second.trace_ids  # a cursor may be used again

    def test_arrivals_come_by_pages(self, store: Store) -> None:
        for n in range(6):
            store.insert([span(n, 1), span(n, 2)], [])
        pages = []
        cursor, more = None, True
        while more:
            page = store.arrivals(cursor, limit=4)
            pages.append(page.trace_ids)
            cursor, more = page.cursor, page.more
        assert [len(ids) for ids in pages] == [2, 2, 2]
        assert [trace_id for ids in pages for trace_id in ids] == [f"{n:032x}" for n in range(6)]
        assert len(store.arrivals(limit=1).trace_ids) == 1  # an insert is told of as a whole

    def test_what_becomes_visible_late_is_not_missed(self, store: Store) -> None:
        # an insert that began before another one and ended after it: its arrival lies before what was told already
        store.insert([span(1)], [])
        cursor = store.arrivals().cursor
        (at,) = cursor.seen
        assert cursor.settled_ns < at - 50 * 10**9
        later = Cursor(cursor.settled_ns, {at + 10**9: 1})
        assert store.arrivals(later).trace_ids == (f"{1:032x}",)
        parts_of_one_insert = Cursor(cursor.settled_ns, {at: 0})
        assert store.arrivals(parts_of_one_insert).trace_ids == (f"{1:032x}",)

    def test_writers_at_once_lose_no_arrival(self, store: Store) -> None:
        found: set[str] = set()
        cursor = None
        with ThreadPoolExecutor(4) as pool:
            writing = [pool.submit(store.insert, [span(n)], []) for n in range(24)]
            while not all(one.done() for one in writing):
                page = store.arrivals(cursor, limit=3)
                found.update(page.trace_ids)
                cursor = page.cursor
        more = True
        while more:
            page = store.arrivals(cursor)
            found.update(page.trace_ids)
            cursor, more = page.cursor, page.more
        assert found == {f"{n:032x}" for n in range(24)}

    # what was judged, in the order in which it was kept

    def test_decisions_are_told_once_in_the_order_in_which_they_were_kept(self, store: Store) -> None:
        assert store.judged_since().kept == ()
        first = [decision("r2"), decision("r1", "z"), decision("r1", rule="q")]
        store.add_judged([], first)
        page = store.judged_since()
        assert sorted((k.decision for k in page.kept), key=repr) == sorted(first, key=repr)
        store.add_judged([], [decision("r2", status="fail"), decision("r0")])
        kept = Cursor.parse(str(page.cursor))  # as a bookmark keeps it
        second = store.judged_since(kept)
        assert [k.decision.run_id for k in second.kept] == ["r0", "r2"]
        assert min(k.version for k in second.kept) > max(k.version for k in page.kept)
        assert store.judged_since(second.cursor).kept == ()

    def test_decisions_that_were_withdrawn_are_not_told(self, store: Store) -> None:
        store.write_runs([run("r1")])
        store.add_judged([], [decision("r1"), decision("r2")])
        page = store.judged_since()
        store.retract(["r1"])
        assert store.judged_since(page.cursor).kept == ()

    def test_decisions_are_told_by_pages(self, store: Store) -> None:
        for n in range(6):
            store.add_judged([], [decision(f"r{n}"), decision(f"s{n}")])
        pages = []
        cursor, more = None, True
        while more:
            page = store.judged_since(cursor, limit=4)
            pages.append([k.decision.run_id for k in page.kept])
            cursor, more = page.cursor, page.more
        assert pages == [["r0", "s0", "r1", "s1"], ["r2", "s2", "r3", "s3"], ["r4", "s4", "r5", "s5"]]
