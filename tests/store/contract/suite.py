"""What every store must do (`store/api.py`). An implementation joins by a subclass with a fixture `dsn`."""

from __future__ import annotations

import dataclasses
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import Span, SpanEvent, SpanLink
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Cursor, Store, clickhouse, judgements, open_store, trace_rows
from tests.store.builders import DAY, HOUR, T0, decision, log, logs_of, run, runs_of, span, spans_of, verdict
from tests.store.contract.alerts import AlertsContract
from tests.store.contract.audit import AuditContract
from tests.store.contract.browse import BrowseContract
from tests.store.contract.crews import CrewsContract
from tests.store.contract.labels import LabelsContract

# every example has a trace id of its own, so one store serves them all
_property = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.differing_executors,  # two implementations run the one suite
    ],
)


def same(a: Any, b: Any) -> bool:
    """Equal, and equal in type at every depth: 1, 1.0 and True are three values."""
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a == b or (a != a and b != b))


def unordered_same(found: tuple[Any, ...], sent: list[Any]) -> bool:
    """The same records whatever their order, each distinct one once."""
    distinct: list[Any] = []
    for one in sent:
        if not any(same(one, other) for other in distinct):
            distinct.append(one)
    return len(found) == len(distinct) and all(any(same(one, other) for other in found) for one in distinct)


def clean_up(store: Store) -> None:
    """What ClickHouse does by itself within hours."""
    assert isinstance(store, clickhouse.ClickHouseStore)
    for table in ("otel_traces", "otel_logs"):
        store._session.execute(f"OPTIMIZE TABLE {table} FINAL")


class StoreContract(AlertsContract, AuditContract, LabelsContract, CrewsContract, BrowseContract):
    @pytest.fixture
    def dsn(self) -> str:
        raise NotImplementedError

    @pytest.fixture
    def store(self, dsn: str) -> Iterator[Store]:
        opened = open_store(dsn)
        yield opened
        opened.close()

    # spans and log records

    def test_empty_store_has_nothing(self, store: Store) -> None:
        assert list(store.traces()) == []
        assert store.orphan_logs() == ()
        assert list(store.runs()) == []
        assert list(store.verdicts()) == []
        found = store.overview()
        assert (found.scopes, found.spans, found.logs, found.runs, found.verdicts) == ((), 0, 0, 0, 0)

    def test_inserting_nothing_is_fine(self, store: Store) -> None:
        store.insert([], [])
        store.write_runs([])
        store.write_verdicts([])
        assert store.overview().spans == 0

    def test_all_types_of_attribute_values_come_back(self, store: Store) -> None:
        values = {
            "text": "grüße\0'\"\\\n", "empty": "", "int": 1, "big": 2**53 + 1, "min": -(2**63), "float": 1.0,
            "tiny": 5e-324, "nan": float("nan"), "inf": float("-inf"), "minus zero": -0.0, "true": True,
            "false": False, "none": None, "bytes": b"\x00\xff", "list": [1, 1.0, True, None, "1", b"\x01"],
            "object": {"a": {"$bytes": "no bytes", "b": b"x"}, "": []}, "surrogate": "\ud800", "number text": "1",
        }  # fmt: skip
        sent = span(
            attributes=values,
            resource={"service.name": "shop", **values},
            events=(SpanEvent("e", 2**64 - 1, values), SpanEvent("", 0, {})),
            links=(SpanLink("aa", "bb", values, "k=v"), SpanLink("cc", "dd")),
        )
        record = log(attributes=values, body=values, resource=values)
        store.insert([sent], [record])
        ((spans, logs),) = store.traces()
        assert same(spans, (sent,))
        assert same(logs, (record,))

    @pytest.mark.parametrize(
        ("start", "end"), [(0, 0), (0, T0), (T0, 0), (T0 + 1, T0), (T0, T0 + 2**40), (1, 2**64 - 1), (2**64 - 1, 2**63)]
    )
    def test_times_come_back_exactly(self, store: Store, start: int, end: int) -> None:
        store.insert([span(start_ns=start, end_ns=end)], [log(time_ns=start, observed_ns=end)])
        (((found,), (record,)),) = store.traces()
        assert (found.start_ns, found.end_ns) == (start, end)
        assert (record.time_ns, record.observed_ns) == (start, end)

    @_property
    @given(data=st.data())
    def test_spans_and_logs_round_trip(self, store: Store, data: st.DataObject) -> None:
        trace_id = uuid.uuid4().hex
        spans, logs = data.draw(spans_of(trace_id)), data.draw(logs_of(trace_id))
        store.insert(spans, logs)
        found = list(store.traces(trace_ids=[trace_id]))
        assert len(found) == (1 if spans or logs else 0)
        for found_spans, found_logs in found:
            assert unordered_same(found_spans, spans)
            assert unordered_same(found_logs, logs)

    def test_identical_resend_changes_nothing(self, store: Store) -> None:
        spans = [span(1, n, attributes={"b": 1, "a": {"y": 1, "x": 2}}) for n in range(3)]
        again = [dataclasses.replace(s, attributes={"a": {"x": 2, "y": 1}, "b": 1}) for s in spans]
        records = [log(1), log(1, body="x"), log(trace=1, trace_id="")]
        for _ in range(3):
            store.insert(spans, records)
        store.insert(again, records)
        assert list(store.traces()) == [(tuple(spans), tuple(records[:2]))]
        assert len(store.orphan_logs()) == 1
        found = store.overview()
        assert (found.spans, found.logs, found.orphan_logs) == (3, 3, 1)

    def test_same_id_with_other_content_keeps_both_in_a_fixed_order(self, store: Store) -> None:
        one, two, three = span(attributes={"n": 1}), span(attributes={"n": True}), span(attributes={"n": "1"})
        store.insert([three, one], [])
        store.insert([two], [])
        ((first, _),) = store.traces()
        assert unordered_same(first, [one, two, three])
        store.insert([one, two, three], [])
        assert same(next(iter(store.traces()))[0], first)

    def test_traces_come_whole_and_in_order(self, store: Store) -> None:
        spans = [span(t, n) for t in (3, 1, 2) for n in (2, 1, 3)]
        store.insert(spans, [log(2, time_ns=T0 + 1), log(4), log(2)])
        found = list(store.traces())
        ids = [(s or logs)[0].trace_id for s, logs in found]
        assert ids == [f"{t:032x}" for t in (1, 2, 3, 4)]
        assert [[s.start_ns - T0 for s in spans] for spans, _ in found] == [[1, 2, 3]] * 3 + [[]]
        assert [[x.time_ns - T0 for x in logs] for _, logs in found] == [[], [0, 1], [], [0]]

    def test_traces_come_by_pages_of_bounded_size(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        store.insert([span(t, n) for t in range(30) for n in range(1 + t % 4)], [log(t) for t in range(0, 40, 3)])
        everything = list(store.traces())
        monkeypatch.setattr(trace_rows, "IDS_PER_PAGE", 7)
        monkeypatch.setattr(trace_rows, "CHUNK_ROWS", 5)
        assert list(store.traces()) == everything
        assert list(store.traces(service="shop", since_ns=1)) == everything
        monkeypatch.setattr(trace_rows, "TRACES_PER_QUERY", 4)
        assert list(store.traces(trace_ids=[f"{t:032x}" for t in range(99)])) == everything

    def test_window_and_service_choose_whole_traces(self, store: Store) -> None:
        late = span(1, 9, start_ns=T0 + DAY, end_ns=T0 + DAY + 1, resource={"service.name": "tools"})
        store.insert([span(1, 1), late, span(2, 1)], [log(3, time_ns=T0 + DAY)])

        def ids(**wanted: Any) -> list[tuple[int, int]]:
            return [(int((s or logs)[0].trace_id, 16), len(s)) for s, logs in store.traces(**wanted)]

        assert ids(since_ns=T0 + DAY) == [(1, 2), (3, 0)]
        assert ids(until_ns=T0 + DAY) == [(1, 2), (2, 1)]
        assert ids(since_ns=T0 + 1, until_ns=T0 + 2) == [(1, 2), (2, 1)]
        assert ids(since_ns=T0 + 2, until_ns=T0 + DAY) == []
        assert ids(service="tools") == [(1, 2)]
        assert ids(service="tools", until_ns=T0 + DAY) == []
        assert ids(trace_ids=[f"{1:032x}", "no such"], service="shop") == [(1, 2)]
        assert ids(trace_ids=[]) == []
        assert ids(since_ns=-(2**70), until_ns=2**70) == [(1, 2), (2, 1), (3, 0)]

    def test_orphan_logs_are_no_trace(self, store: Store) -> None:
        lost, later = log(trace_id="", body="a"), log(trace_id="", time_ns=T0 + DAY, resource={})
        store.insert([], [later, lost])
        assert list(store.traces()) == []
        assert store.orphan_logs() == (lost, later)
        assert store.orphan_logs(since_ns=T0 + 1) == (later,)
        assert store.orphan_logs(service="shop") == (lost,)

    def test_spans_without_a_trace_id_are_kept(self, store: Store) -> None:
        store.insert([span(trace_id="")], [log(trace_id="")])
        assert list(store.traces()) == [((span(trace_id=""),), ())]

    def test_a_large_batch_comes_back(self, store: Store) -> None:
        # every byte value occurs in lengths and offsets; chDB takes some of them for the end of a statement
        spans = [span(n // 8, n, attributes={"text": ";" * (n % 700), "n": n}) for n in range(4000)]
        store.insert(spans, [log(n, body=";\n" * n) for n in range(300)])
        assert [s for found, _ in store.traces() for s in found] == spans
        assert sum(len(logs) for _, logs in store.traces()) == 300

    def test_more_days_in_one_insert_than_the_engine_takes_by_itself(self, store: Store) -> None:
        spans = [span(1, day, start_ns=T0 - day * DAY, end_ns=T0) for day in range(1, 121)]
        store.insert(spans, [])
        ((found, _),) = store.traces()
        assert len(found) == 120

    @pytest.mark.parametrize(
        "text", ["it's", 'a"b', "a\\b", "tab\tnew\nline", "{x:String}", "%(x)s", "'; DROP TABLE x"]
    )
    def test_filter_values_are_bound(self, store: Store, text: str) -> None:
        store.insert([span(resource={"service.name": text}, trace_id=text)], [])
        assert len(list(store.traces(service=text, trace_ids=[text]))) == 1
        store.write_runs([run(text, suite=text)])
        assert [r.run_id for r in store.runs(suite=text, run_ids=[text])] == [text]

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

    def test_span_ids_by_trace(self, store: Store) -> None:
        store.insert([span(1, 1), span(1, 2), span(2, 3), span(1, 2)], [])
        found = store.span_ids([f"{n:032x}" for n in (1, 2, 9)])
        assert {trace: sorted(ids) for trace, ids in found.items()} == {
            f"{1:032x}": [f"{1:016x}", f"{2:016x}"],
            f"{2:032x}": [f"{3:016x}"],
        }

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
        from concurrent.futures import ThreadPoolExecutor

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

    # retention

    def test_retention_removes_what_is_older(self, store: Store) -> None:
        now = time.time_ns()
        old, new, ahead, bare = (span(n, start_ns=t, end_ns=t) for n, t in enumerate((now - 400 * DAY, now, 2**62, 0)))
        store.insert([old, new, ahead, bare], [log(9, time_ns=now - 400 * DAY)])
        store.set_retention(None)
        assert len(list(store.traces())) == 5  # no retention: nothing is old
        store.set_retention(90)
        store.set_retention(90)
        clean_up(store)
        assert [s[0].span_id for s, _ in store.traces()] == [one.span_id for one in (new, ahead, bare)]
        store.set_retention(None)
        store.insert([old], [])
        clean_up(store)
        assert len(list(store.traces())) == 4

    @pytest.mark.parametrize("days", [0, -1, 40_000])
    def test_a_retention_that_makes_no_sense_is_refused(self, store: Store, days: int) -> None:
        with pytest.raises(StoreError, match="1 to 36500 days") as caught:
            store.set_retention(days)
        assert not caught.value.retryable

    # runs and verdicts

    @_property
    @given(data=st.data())
    def test_runs_round_trip(self, store: Store, data: st.DataObject) -> None:
        sent = data.draw(runs_of(uuid.uuid4().hex))
        store.write_runs([sent])
        assert list(store.runs(run_ids=[sent.run_id])) == [sent]

    def test_a_run_replaces_the_one_of_its_id_as_a_whole(self, store: Store) -> None:
        store.write_runs([run("a"), run("b"), run("a")])
        shorter = run("a", events=run().events[:1], suite="s")
        store.write_runs([shorter])
        store.write_runs([shorter])
        assert list(store.runs()) == [shorter, run("b")]
        assert store.overview().runs == 2

    def test_runs_are_chosen_by_suite_and_start(self, store: Store) -> None:
        store.write_runs(run(f"r{n}", suite=("s", "", None)[n], start_ns=T0 + n) for n in range(3))
        assert [r.run_id for r in store.runs(suite="s")] == ["r0"]
        assert [r.run_id for r in store.runs(suite="")] == ["r1"]
        assert [r.run_id for r in store.runs(since_ns=T0 + 1, until_ns=T0 + 2)] == ["r1"]
        assert [r.run_id for r in store.runs(run_ids=["r2", "r0", "no"])] == ["r0", "r2"]

    def test_runs_and_verdicts_come_by_pages(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clickhouse, "RUNS_PER_PAGE", 4)
        store.write_runs(run(f"r{n:02}") for n in range(10))
        store.write_verdicts(verdict(f"r{n:02}", suite="ab"[n % 2]) for n in range(10))
        assert [r.run_id for r in store.runs()] == [f"r{n:02}" for n in range(10)]
        assert [(v.suite, v.run_id) for v in store.verdicts()] == sorted(("ab"[n % 2], f"r{n:02}") for n in range(10))

    def test_verdicts_round_trip_and_replace(self, store: Store) -> None:
        bare = verdict("r2", layers={}, cells=(), call_scores=(), findings=(), tags={}, excluded="infra", attempt=3)
        store.write_verdicts([verdict(), bare, verdict(suite="other")])
        store.write_verdicts([verdict()])
        assert list(store.verdicts("s")) == [verdict(), bare]
        assert len(list(store.verdicts())) == 3
        again = verdict(cells=(), failure="wrong_tool")
        store.write_verdicts([again])
        assert list(store.verdicts("s", since_ns=T0, until_ns=T0 + 1)) == [again, bare]
        assert list(store.verdicts("s", since_ns=T0 + 1)) == []

    # life

    def test_decisions_round_trip_in_order(self, store: Store) -> None:
        kept = [
            decision(run_id="b", start_ns=T0 + DAY, cells=(Cell("x", "y"), Cell("y", "y")), agent="a", tenant="t"),
            decision(run_id="a", start_ns=T0, cells=(), excluded="infra", status="excluded", layers={}),
            decision(run_id="a", suite="zz", rule="r1", severity="page", origin="rule", start_ns=T0, cost_usd=0.1),
        ]
        store.add_judged([], kept)
        store.add_judged([], kept[:1])
        assert list(store.decisions()) == [kept[1], kept[0], kept[2]]
        assert list(store.decisions("zz")) == kept[2:]
        assert list(store.decisions(since_ns=T0 + 1)) == kept[:1]
        assert list(store.decisions(until_ns=T0)) == []

    def test_decisions_come_by_pages(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(judgements, "ROWS_PER_PAGE", 3)
        kept = [decision(run_id=f"r{i:02}", start_ns=T0 + i % 4 * HOUR, rule=f"u{i % 3}") for i in range(20)]
        store.add_judged([], kept)
        assert sorted(store.decisions(), key=lambda d: d.run_id) == kept

    def test_replacing_leaves_nothing_behind(self, store: Store) -> None:
        """A run that moved to another hour, a rule that no longer matches: each run counts once."""
        other = decision(run_id="b", start_ns=T0)
        store.add_judged(
            [verdict(run_id="a"), verdict(run_id="b")],
            [other, *(decision(run_id="a", start_ns=T0, rule=rule) for rule in ("r1", "r2"))],
        )
        moved = decision(run_id="a", start_ns=T0 + 5 * HOUR, rule="r2", status="fail")
        a = run(run_id="a", start_ns=moved.start_ns)
        store.replace_judged(["s"], [a], [], [moved])
        assert list(store.decisions()) == [other, moved]
        assert [v.run_id for v in store.verdicts()] == ["b"]
        back = decision(run_id="a", start_ns=T0, rule="r1")
        store.replace_judged(["s"], [run(run_id="a", start_ns=T0)], [verdict(run_id="a")], [back])
        assert sorted(store.decisions(), key=lambda d: d.run_id) == [back, other]
        assert [v.run_id for v in store.verdicts()] == ["a", "b"]
        store.replace_judged(["another"], [run(run_id="a", start_ns=T0)], [], [])
        assert len(list(store.decisions())) == 2

    def test_a_retracted_run_is_gone_with_all_that_was_said_of_it(self, store: Store) -> None:
        gone, kept = run(run_id="gone", trace_ids=("t1", "t2")), run(run_id="kept", trace_ids=("t3",))
        store.write_runs([gone, kept])
        store.add_judged(
            [verdict(run_id="gone"), verdict(run_id="kept")],
            [decision(run_id=r.run_id, start_ns=r.start_ns) for r in (gone, kept)],
        )
        assert store.runs_of_traces(["t2", "t9"]) == {"t2": ("gone",)}
        for _ in range(2):
            store.retract(["gone", "never there"])
        assert [r.run_id for r in store.runs()] == ["kept"]
        assert [v.run_id for v in store.verdicts()] == ["kept"]
        assert [d.run_id for d in store.decisions()] == ["kept"]
        assert store.runs_of_traces(["t2"]) == {}
        overview = store.overview()
        assert (overview.runs, overview.verdicts) == (1, 1)
        store.write_runs([gone])
        assert [r.run_id for r in store.runs()] == ["gone", "kept"]

    def test_a_bookmark_is_the_last_one_set(self, store: Store) -> None:
        assert store.bookmark("live") is None
        for place in ("1", "3", "2"):
            store.set_bookmark("live", place)
        store.set_bookmark("other", "9")
        assert store.bookmark("live") == "2"

    def test_overview_counts_by_service_and_scope(self, store: Store) -> None:
        store.insert([span(1, 1), span(2, 2), span(2, 3, scope_name="lib", scope_version="1")], [log(1)])
        found = store.overview()
        shown = [(s.service, s.scope, s.scope_version, s.spans, s.traces, s.first_ns, s.last_ns) for s in found.scopes]
        assert shown == [("shop", "", "", 2, 2, T0 + 1, T0 + 2), ("shop", "lib", "1", 1, 1, T0 + 3, T0 + 3)]
        assert (found.spans, found.logs, found.foreign) == (3, 1, False)

    def test_sizes_of_the_tables(self, store: Store) -> None:
        assert "otel_traces" not in {size.table for size in store.sizes()}
        store.insert([span()], [])
        store.insert([Span(f"{2:032x}", "01", start_ns=T0)], [])
        (found,) = (size for size in store.sizes() if size.table == "otel_traces")
        assert found.rows == 2
        assert found.parts >= 1
        assert found.bytes > 0

    def test_another_opening_sees_the_same(self, store: Store, dsn: str) -> None:
        store.insert([span()], [])
        other = open_store(dsn, create=False)
        assert [s for s, _ in other.traces()] == [(span(),)]
        other.close()

    def test_closed_store_says_so(self, dsn: str) -> None:
        opened = open_store(dsn)
        opened.close()
        opened.close()
        with pytest.raises(StoreError, match="is closed"):
            opened.insert([span()], [])

    def test_no_database_and_nothing_to_create(self, dsn: str) -> None:
        with pytest.raises(StoreError, match="no database"):
            open_store(f"{dsn}_none", create=False)

    def test_threads_may_share_a_store(self, store: Store) -> None:
        from concurrent.futures import ThreadPoolExecutor

        def work(number: int) -> int:
            store.insert([Span(f"{number:032x}", "01", start_ns=T0)], [])
            return len(list(store.traces(trace_ids=[f"{number:032x}"])))

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(12))) == [1] * 12
        assert store.overview().spans == 12
