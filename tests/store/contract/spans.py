"""What every store must do with spans and log records (`store/api.py`); part of the one suite."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.model.spans import SpanEvent, SpanLink
from otel_toolselect.store import Store, trace_rows
from tests.store.builders import DAY, T0, log, logs_of, on_one_store, run, span, spans_of


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


class SpansContract:
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

    @on_one_store
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

    def test_span_ids_by_trace(self, store: Store) -> None:
        store.insert([span(1, 1), span(1, 2), span(2, 3), span(1, 2)], [])
        found = store.span_ids([f"{n:032x}" for n in (1, 2, 9)])
        assert {trace: sorted(ids) for trace, ids in found.items()} == {
            f"{1:032x}": [f"{1:016x}", f"{2:016x}"],
            f"{2:032x}": [f"{3:016x}"],
        }
