"""What every store must do for those who label (`store/label_api.py`); part of the one suite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otel_toolselect.model.alerting import Query, Scope, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import NoCall
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Sampling, Store
from tests.store.builders import DAY, HOUR, T0, decision, run

LABEL = Label(
    "r1", "t1", "person", "ann", ("refund", "it's"), "search", T0 + 9, "grüße\n", T0, "shop", "m", "p", "sha256:0",
    "tool: search", 0.125, {"asked": [{"answer": "no"}]},
)  # fmt: skip
WINDOW = [Window(T0, T0 + HOUR)]


def labelled(run_id: str, origin: Any, *, right: bool, counts: bool) -> Decision:
    cell = Cell("search", "search") if right else Cell("refund", "search")
    layers: Any = {"selection": "pass" if right else "fail"}
    return decision(
        run_id, "labels", rule=origin, origin=origin, counts=counts, cells=(cell,), layers=layers, start_ns=T0
    )


class LabelsContract:
    def test_a_store_without_labels_has_none(self, store: Store) -> None:
        store.labels.write([])
        assert store.labels.of_runs(["r1"]) == ()
        assert store.labels.history("r1") == ()
        assert list(store.labels.all()) == []
        assert store.labels.find("r") == ()
        assert store.labels.decisions(["r1"], T0, T0 + HOUR) == ()
        assert store.labels.frame(T0, T0 + DAY, Sampling()).drawn == ()

    def test_the_last_label_of_a_labeller_stands_and_the_others_are_history(self, store: Store) -> None:
        raj = replace(LABEL, labeller="raj", expected=(), chance=None, record={}, stratum="", agent=None)
        again = replace(LABEL, expected=("none",), at_ns=T0 + 11)
        store.labels.write([LABEL, raj])
        assert store.labels.of_runs(["r1", "r2"]) == (LABEL, raj)
        store.labels.write([again])
        assert store.labels.of_runs(["r1"]) == (again, raj)
        assert store.labels.history("r1") == (LABEL, raj, again)
        gone = replace(again, withdrawn=True)
        store.labels.write([gone])
        assert store.labels.of_runs(["r1"]) == (raj,)
        assert store.labels.history("r1") == (LABEL, raj, again, gone)
        store.labels.write([again])
        assert store.labels.of_runs(["r1"]) == (again, raj)

    def test_of_two_labels_in_one_call_the_later_stands(self, store: Store) -> None:
        store.labels.write([LABEL, replace(LABEL, expected=("a",))])
        assert [x.expected for x in store.labels.of_runs(["r1"])] == [("a",)]

    def test_the_first_label_of_all_counts_at_once_whoever_asks_for_many_runs(self, store: Store) -> None:
        many = [f"r{i}" for i in range(700)]
        assert store.labels.of_runs(many) == ()
        store.labels.write([replace(LABEL, run_id="r699")])
        assert [x.run_id for x in store.labels.of_runs(many)] == ["r699"]
        store.labels.write([replace(LABEL, run_id="r699", withdrawn=True)])
        assert store.labels.of_runs(many) == ()

    def test_labels_by_window_source_and_labeller(self, store: Store) -> None:
        judge = replace(LABEL, run_id="r0", source="judge", labeller="some-model", start_ns=T0 + HOUR)
        store.labels.write([LABEL, judge])
        assert list(store.labels.all()) == [judge, LABEL]
        assert list(store.labels.all(since_ns=T0 + 1)) == [judge]
        assert list(store.labels.all(until_ns=T0 + 1)) == [LABEL]
        assert list(store.labels.all(source="judge")) == [judge]
        assert list(store.labels.all(labeller="ann")) == [LABEL]

    def test_pages_of_labels_join(self, store: Store, monkeypatch: Any) -> None:
        monkeypatch.setattr("otel_toolselect.store.label_rows.ROWS_PER_PAGE", 2)
        labels = [replace(LABEL, run_id=f"r{i}", labeller=by) for i in range(3) for by in ("ann", "raj")]
        store.labels.write(labels)
        assert list(store.labels.all()) == labels
        assert store.labels.of_runs([f"r{i}" for i in range(3)]) == tuple(labels)

    def test_runs_are_found_by_the_beginning_of_an_id(self, store: Store) -> None:
        store.write_runs(
            [run("ab1", trace_id="t1"), run("ab2", trace_id="x9"), run("c", trace_id="x9", parent_run_id="ab2")]
        )
        assert store.labels.find("ab") == ("ab1", "ab2")
        assert store.labels.find("x9") == ("ab2",)
        assert store.labels.find("zz") == store.labels.find("") == ()
        store.retract(["ab1"])
        assert store.labels.find("ab") == ("ab2",)

    def test_what_is_expected_by_the_trace_is_kept_with_the_run(self, store: Store) -> None:
        store.write_runs([run(expected=("refund", "a,b"))])
        assert [r.expected for r in store.runs()] == [("refund", "a,b")]

    def test_decisions_on_runs(self, store: Store) -> None:
        kept = [decision("r1", ""), decision("r1", "s"), decision("r2", "s"), decision("r1", "x", start_ns=T0 + DAY)]
        store.add_judged([], kept)
        assert store.labels.decisions(["r1"], T0, T0 + HOUR) == (kept[0], kept[1])

    # figures by origin

    def test_a_run_counts_once_unless_cut_by_origin(self, store: Store) -> None:
        store.add_judged([], [
            labelled("r1", "person", right=False, counts=True), labelled("r1", "attribute", right=True, counts=False),
            labelled("r1", "judge", right=True, counts=False), labelled("r2", "judge", right=True, counts=True),
            decision("r1", "s"), decision("r1", ""),
        ])  # fmt: skip

        def accuracy(of: Scope, *by: str) -> dict[Any, tuple[int | None, int]]:
            found = store.observe(Query("accuracy", of, by), WINDOW)
            return {tuple(v for _, v in series): (o.numerator, o.n) for series, (o,) in found.items()}

        assert accuracy(Scope(suite=("labels",))) == {(): (1, 2)}
        assert accuracy(Scope(policy=("labels",))) == {(): (1, 2)}
        assert accuracy(Scope(suite=("labels",)), "origin") == {
            ("person",): (0, 1), ("attribute",): (1, 1), ("judge",): (2, 2),
        }  # fmt: skip
        assert accuracy(Scope(origin=("judge",))) == {(): (2, 2)}
        assert accuracy(Scope(), "origin")[("person",)] == (0, 1)
        assert accuracy(Scope()) == {(): (1, 1)}, "labels do not count beside suites unless they are named"
        assert accuracy(Scope(suite=("s", "labels"))) == {(): (2, 3)}
        cells = store.confusion(Scope(suite=("labels",)), (), WINDOW)[()][0]
        assert cells == {Cell("refund", "search"): 1, Cell("search", "search"): 1}
        by_judge = store.confusion(Scope(suite=("labels",), origin=("judge",)), (), WINDOW)[()][0]
        assert by_judge == {Cell("search", "search"): 2}
        worst = store.observe(Query("worst_recall", Scope(suite=("labels",))), WINDOW)[()][0]
        assert (worst.value, worst.detail) == (0.0, ("tool refund",))

    def test_facts_are_of_all_traffic_and_of_labelled_runs_when_cut(self, store: Store) -> None:
        store.add_judged(
            [], [decision("r1", ""), decision("r2", ""), labelled("r1", "person", right=True, counts=True)]
        )
        count = Query("decisions")
        assert store.observe(count, WINDOW)[()][0].value == 2
        assert store.observe(replace(count, of=Scope(origin=("person",))), WINDOW)[()][0].value == 1

    def test_decisions_on_labels_go_with_their_run(self, store: Store) -> None:
        store.write_runs([run("r1", start_ns=T0)])
        store.add_judged([], [labelled("r1", "person", right=True, counts=True)])
        store.labels.write([LABEL])
        store.retract(["r1"])
        assert list(store.decisions("labels")) == []
        assert store.labels.of_runs(["r1"]) == (LABEL,), "what was said stays, for when the run comes back"

    # the sample of a day

    def test_strata_and_who_is_drawn(self, store: Store) -> None:
        plain = [decision(f"r{i:02}", "", first_action="search", ghosts=(), start_ns=T0 + i) for i in range(30)]
        rare = decision("x1", "", first_action="refund", ghosts=(), start_ns=T0)
        failed = [
            decision("f1", "", ghosts=(), start_ns=T0),
            decision("f1", "p", rule="never", status="fail", ghosts=(), start_ns=T0),
        ]
        unsure = [decision("u1", "", ghosts=(), start_ns=T0), decision("u1", "s", status="needs_review", start_ns=T0)]
        ghost = decision("u2", "", ghosts=("x",), start_ns=T0)
        vague = decision("u3", "", first_action="none", observed_class="none", ghosts=(), start_ns=T0)
        other = [
            decision("d1", "", excluded="incomplete", ghosts=(), start_ns=T0),
            decision("d2", "", ghosts=(), start_ns=T0 + DAY),
            decision("d3", "s", ghosts=(), start_ns=T0),
        ]
        store.add_judged([], [*plain, rare, *failed, *unsure, ghost, vague, *other])
        store.write_runs([run("u3", events=(), start_ns=T0, no_call=NoCall("none", "no signal", 0.3))])
        sampling = Sampling("seed", per_stratum=2, random=3)
        frame = store.labels.frame(T0, T0 + HOUR, sampling, "2026-11-02")
        assert frame.sizes == {
            "failure": 1, "tool: refund": 1, "tool: search": 30, "unsure: none": 1, "unsure: search": 2,
        }  # fmt: skip
        by_run = {one.run_id: one for one in frame.drawn}
        assert {"f1", "u1", "u2", "u3", "x1"} <= by_run.keys()
        assert 2 <= sum(one.stratum == "tool: search" for one in frame.drawn) <= 5
        assert frame.drawn[0].run_id == "f1"
        assert frame.drawn[0].reasons == ("p/never failed",)
        assert [one.why for one in frame.drawn] == sorted(
            (one.why for one in frame.drawn), key=["failure", "unsure", "tool", "random"].index
        )
        assert by_run["f1"].chance == by_run["x1"].chance == by_run["u1"].chance == 1
        usual = next(one for one in frame.drawn if one.stratum == "tool: search")
        assert abs(usual.chance - (1 - (1 - 2 / 30) * (1 - 3 / 35))) < 1e-12
        assert store.labels.frame(T0, T0 + HOUR, sampling, "2026-11-02") == frame
        others = {
            frozenset(d.run_id for d in store.labels.frame(T0, T0 + HOUR, Sampling(str(i), 2, 3)).drawn)
            for i in range(8)
        }
        assert len(others) > 1, "another seed draws others"
        # a label changes neither strata nor sample
        store.labels.write([LABEL])
        store.add_judged([], [labelled("r00", "person", right=False, counts=True)])
        assert store.labels.frame(T0, T0 + HOUR, sampling, "2026-11-02") == frame

    def test_what_arrives_later_moves_no_other_run(self, store: Store) -> None:
        rows = [decision(f"r{i:02}", "", first_action="search", ghosts=(), start_ns=T0 + i) for i in range(20)]
        store.add_judged([], rows[:12])
        before = store.labels.frame(T0, T0 + HOUR, Sampling("s", 6, 0)).drawn
        store.add_judged([], rows[12:])
        after = [one.run_id for one in store.labels.frame(T0, T0 + HOUR, Sampling("s", 6, 0)).drawn]
        old = {d.run_id for d in rows[:12]}
        kept = [one.run_id for one in before if one.run_id in after]
        assert [run_id for run_id in after if run_id in old] == kept
