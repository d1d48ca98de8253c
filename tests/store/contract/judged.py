"""What every store must do with runs and with what was said of them (`store/api.py`); part of the one suite."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Store, clickhouse, judgements
from tests.store.builders import DAY, HOUR, T0, decision, on_one_store, run, runs_of, verdict


class JudgedContract:
    # runs and verdicts

    @on_one_store
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

    # decisions

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

    # what is no longer so

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
