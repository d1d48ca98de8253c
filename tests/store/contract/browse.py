"""What every store must do for pages and the read API (`store/browse_api.py`); part of the one suite.

`tests/browse` compares lists with brute force.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from otel_toolselect.errors import UsageError
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import Run, ToolDefinition
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Store
from otel_toolselect.store.browse_api import RunFilter
from tests.store.builders import DAY, HOUR, T0, decision, run, span, verdict

ALL = RunFilter()
TOOLS = (ToolDefinition("search", "finds", {"type": "object"}), ToolDefinition("refund", "pays back"))


def keep(store: Store, number: int, *said: Decision, tenant: str = "", **fields: Any) -> Run:
    """A run with its decision under no expectation, and further ones."""
    start = fields.pop("start_ns", T0 + number * HOUR)
    facts = {name: fields.pop(name) for name in ("ghosts", "agent", "model", "catalog_id") if name in fields}
    shared = {name: value for name, value in facts.items() if name != "ghosts"}
    made = run(f"r{number}", trace_id=f"t{number}", trace_ids=(f"t{number}",), start_ns=start, **shared, **fields)
    base = decision(f"r{number}", "", trace_id=f"t{number}", start_ns=start, tenant=tenant, cells=(), status="n/a",
                    layers={}, **({"ghosts": ()} | facts))  # fmt: skip
    store.write_runs([made])
    store.add_judged([], [base, *(replace(d, run_id=f"r{number}", start_ns=start, tenant=tenant) for d in said)])
    return made


def ids(store: Store, of: RunFilter = ALL, tenant: str | None = None, **asked: Any) -> list[str]:
    return [row.run_id for row in store.browse.runs(of, tenant=tenant, **asked).rows]


class BrowseContract:
    def test_a_store_without_runs_shows_none(self, store: Store) -> None:
        browse = store.browse
        assert browse.runs(ALL, tenant=None).rows == ()
        assert browse.count(ALL, tenant=None).n == 0
        assert set(browse.facets(ALL, tenant=None).values()) == {()}
        assert browse.run("r1", tenant=None) is None
        assert browse.summaries(["r1"], tenant=None) == ()
        assert browse.neighbours("r1", ALL, tenant=None) == (None, None)
        assert browse.first_ns(tenant=None) is None
        assert browse.suites(tenant=None) == ()
        assert browse.cases("s", tenant=None) == ()
        assert browse.case("s", "c", tenant=None) is None
        assert browse.catalogs(tenant=None) == ()
        assert browse.catalog("c", tenant=None) is None
        assert browse.spans(run(), tenant=None) == ()

    def test_a_row_says_what_there_is_to_say(self, store: Store) -> None:
        failed = decision(suite="s", status="fail", cells=(Cell("refund", "search"),), failure="wrong", owner="ann")
        keep(store, 1, failed, decision(suite="p", rule="never", severity="high", cells=(), origin="rule"),
             request="grüße 'x' \n" * 100, agent="shop", model="m", ghosts=("x",))  # fmt: skip
        (row,) = store.browse.runs(ALL, tenant=None).rows
        assert (row.run_id, row.trace_id, row.start_ns, row.agent, row.model) == ("r1", "t1", T0 + HOUR, "shop", "m")
        assert row.request == ("grüße 'x' \n" * 100)[:300]
        assert (row.calls, row.ghosts, row.duration_ns, row.tokens, row.incomplete) == (2, ("x",), 5, None, False)
        assert [(s.suite, s.rule, s.status, s.severity) for s in row.standings] == [
            ("p", "never", "pass", "high"), ("s", "", "fail", ""),
        ]  # fmt: skip
        assert row.worst is not None
        assert (row.worst.expected, row.worst.observed, row.worst.failure, row.worst.owner) == (
            "refund", "search", "wrong", "ann",
        )  # fmt: skip
        assert store.browse.summaries(["r9", "r1", "r1"], tenant=None) == (row,)

    def test_pages_join_in_both_directions(self, store: Store) -> None:
        for number in range(7):
            keep(store, number)
        first = store.browse.runs(ALL, tenant=None, limit=3)
        assert [row.run_id for row in first.rows] == ["r6", "r5", "r4"]
        assert first.previous is None
        second = store.browse.runs(ALL, tenant=None, limit=3, cursor=first.next)
        assert [row.run_id for row in second.rows] == ["r3", "r2", "r1"]
        last = store.browse.runs(ALL, tenant=None, limit=3, cursor=second.next)
        assert ([row.run_id for row in last.rows], last.next) == (["r0"], None)
        back = store.browse.runs(ALL, tenant=None, limit=3, cursor=last.previous)
        assert back == second
        assert replace(store.browse.runs(ALL, tenant=None, limit=3, cursor=back.previous), previous=None) == first
        assert store.browse.neighbours("r3", ALL, tenant=None) == ("r4", "r2")
        assert store.browse.neighbours("r3", ALL, tenant=None, descending=False) == ("r2", "r4")
        assert store.browse.neighbours("r6", ALL, tenant=None) == (None, "r5")

    def test_a_cursor_of_another_order_is_refused(self, store: Store) -> None:
        for number in range(3):
            keep(store, number)
        cursor = store.browse.runs(ALL, tenant=None, limit=1).next
        for wrong in ({"cursor": cursor, "sort": "cost"}, {"cursor": cursor, "descending": False}, {"cursor": "%%%"},
                      {"cursor": "bnVsbA"}):  # fmt: skip
            with pytest.raises(UsageError, match="first page"):
                store.browse.runs(ALL, tenant=None, **wrong)  # type: ignore[arg-type]

    def test_one_decision_fits_everything_that_is_asked_of_expectations(self, store: Store) -> None:
        keep(store, 1, decision(suite="s", status="fail", owner="ann"), decision(suite="z", status="pass", owner="raj"))
        keep(store, 2, decision(suite="s", status="pass", owner="ann"))
        assert ids(store, RunFilter(status=("fail",))) == ["r1"]
        assert ids(store, RunFilter(status=("fail",), owner=("raj",))) == []
        assert ids(store, RunFilter(suite=("s",), status=("pass", "fail"))) == ["r2", "r1"]
        assert ids(store, RunFilter(suite=("z",))) == ["r1"]

    def test_rules_suites_and_labels_are_named_alike(self, store: Store) -> None:
        keep(store, 1, decision(suite="p", rule="a/b", status="fail"))
        keep(store, 2, decision(suite="p", rule="c", status="fail"))
        keep(store, 3, decision(suite="labels", rule="person", origin="person", status="fail"),
             decision(suite="labels", rule="judge", origin="judge", status="pass", counts=False))  # fmt: skip
        assert ids(store, RunFilter(suite=("p",))) == ["r2", "r1"]
        assert ids(store, RunFilter(suite=("p/a/b",))) == ["r1"]
        assert ids(store, RunFilter(suite=("labels",), status=("pass",))) == [], "another origin has precedence"
        assert ids(store, RunFilter(origin=("judge",), status=("pass",))) == ["r3"]

    def test_a_cell_is_one_pair(self, store: Store) -> None:
        keep(store, 1, decision(cells=(Cell("a", "b"), Cell("c", "d"))))
        assert ids(store, RunFilter(expected=("a",), observed=("b",))) == ["r1"]
        assert ids(store, RunFilter(expected=("a",), observed=("d",))) == []
        assert ids(store, RunFilter(expected=("a", "c"), observed=("d",))) == ["r1"]

    def test_texts_and_beginnings_of_ids_are_found(self, store: Store) -> None:
        keep(store, 1, request="Wo ist meine BESTELLUNG 100%?", final_text="it's_here\\there\nnow")
        keep(store, 2, request="ab" * 2_001 + "needle")
        kept = run("abcd1234", trace_id="ffee9876", trace_ids=("ffee9876",), start_ns=T0)
        store.write_runs([kept])
        store.add_judged([], [decision("abcd1234", "", trace_id="ffee9876")])
        for text in ("bestellung", "WO IST", "100%", "t's_h", "e\\t", "e\nnow", "?\nit"):
            assert ids(store, RunFilter(text=text)) == ["r1"], text
        for text in ("100_", "wo%ist", "needle", "nothing", "abcd99"):
            assert ids(store, RunFilter(text=text)) == [], text
        assert ids(store, RunFilter(text="ABCD12")) == ids(store, RunFilter(text="ffee9")) == ["abcd1234"]

    def test_what_late_spans_change_is_searched_as_it_is_now(self, store: Store) -> None:
        keep(store, 1, request="before")
        keep(store, 1, request="after")
        assert ids(store, RunFilter(text="before")) == []
        assert ids(store, RunFilter(text="after")) == ["r1"]
        store.retract(["r1"])
        assert ids(store) == ids(store, RunFilter(text="after")) == []

    def test_a_window_is_half_open(self, store: Store) -> None:
        for number in range(4):
            keep(store, number)
        assert ids(store, RunFilter(since_ns=T0 + HOUR, until_ns=T0 + 3 * HOUR)) == ["r2", "r1"]
        assert ids(store, RunFilter(since_ns=T0 + 3 * HOUR)) == ["r3"]
        assert ids(store, RunFilter(since_ns=T0 + HOUR, until_ns=T0 + HOUR)) == []
        assert ids(store, RunFilter(since_ns=-(2**70), until_ns=2**70), descending=False) == ["r0", "r1", "r2", "r3"]
        assert store.browse.count(RunFilter(since_ns=T0 + HOUR), tenant=None).n == 3

    def test_a_tenant_sees_its_own(self, store: Store) -> None:
        failed = decision(suite="s", status="fail")
        mine = keep(store, 1, failed, tenant="a", request="hello", catalog_id="c", tools=TOOLS)
        other = keep(store, 2, failed, tenant="b", request="hello", catalog_id="c", tools=TOOLS,
                     parent_run_id="r1")  # fmt: skip
        nobody = keep(store, 3, failed, request="hello")
        browse = store.browse
        for of in (ALL, RunFilter(text="hello"), RunFilter(status=("fail",)), RunFilter(suite=("s",))):
            assert ids(store, of, "a") == ["r1"]
            assert browse.count(of, tenant="a").n == 1
        assert ids(store, RunFilter(tenant=("b",)), "a") == []
        assert ids(store, RunFilter(tenant=("b",))) == ["r2"]
        assert [browse.run(one.run_id, tenant="a") is None for one in (mine, other, nobody)] == [False, True, True]
        assert [row.run_id for row in browse.summaries(["r1", "r2", "r3"], tenant="a")] == ["r1"]
        found = browse.run("r2", tenant="b")
        assert found is not None
        assert (found.parent, found.tenant) == (None, "b")
        assert browse.neighbours("r1", ALL, tenant="a") == (None, None)
        assert [s.runs for s in browse.suites(tenant="a")] == [1]
        assert [c.runs for c in browse.cases("s", tenant="a")] == [1]
        assert browse.case("s", "refund", tenant="x") is None
        assert [c.runs for c in browse.catalogs(tenant="a")] == [1]
        assert browse.catalog("c", tenant="x") is None
        values = browse.facets(ALL, tenant="a")
        assert [(v.value, v.n) for v in values["tenant"]] == [("a", 1)]
        theirs = {"service.name": "shop", "toolselect.tenant": "b"}
        store.insert([span(trace_id="t1", number=1), span(trace_id="t1", number=2, resource=theirs)], [])
        assert [s.span_id for s in browse.spans(mine, tenant="b")] == [f"{2:016x}"]
        assert len(browse.spans(mine, tenant=None)) == 2

    def test_facets_count_runs_and_decisions(self, store: Store) -> None:
        keep(store, 1, decision(suite="s", status="fail", failure="wrong"), agent="x", model="m")
        keep(store, 2, decision(suite="p", rule="never", origin="rule"), agent="x", model="n")
        keep(store, 3, agent="y", model="m", start_ns=T0 + 9 * DAY)
        found = store.browse.facets(RunFilter(until_ns=T0 + DAY), tenant=None, limit=10)
        pairs = {name: [(v.value, v.n) for v in values] for name, values in found.items()}
        assert pairs["agent"] == [("x", 2)]
        assert sorted(pairs["model"]) == [("m", 1), ("n", 1)]
        assert sorted(pairs["suite"]) == [("p", 1), ("p/never", 1), ("s", 1)]
        assert pairs["failure"] == [("wrong", 1)]
        assert pairs["called"] == [("search", 2)]
        assert pairs["case"] == [("refund", 2)]
        assert pairs["owner"] == []
        few = store.browse.facets(ALL, tenant=None, names=["agent"], limit=1)
        assert few == {"agent": (found["agent"][0],)}

    def test_one_run_with_all_that_belongs_to_it(self, store: Store) -> None:
        label = Label("r1", "t1", "person", "ann", ("refund",), "search", T0, start_ns=T0 + HOUR)
        made = keep(store, 1, decision(suite="s"), decision(suite="p", rule="never"))
        child = run("r5", trace_id="t1", trace_ids=("t1",), parent_run_id="r1", start_ns=T0 + 2 * HOUR)
        store.write_runs([child])
        store.add_judged([verdict("r1", "s", start_ns=T0 + HOUR)], [decision("r5", "", start_ns=T0 + 2 * HOUR)])
        store.labels.write([label])
        found = store.browse.run("r1", tenant=None)
        assert found is not None
        assert (found.run, found.labels) == (made, (label,))
        assert [(d.suite, d.rule) for d in found.decisions] == [("", ""), ("p", "never"), ("s", "")]
        assert [v.suite for v in found.verdicts] == ["s"]
        assert [row.run_id for row in found.children] == ["r5"]
        below = store.browse.run("r5", tenant=None)
        assert below is not None
        assert below.parent is not None
        assert below.parent.run_id == "r1"

    def test_suites_and_the_histories_of_their_cases(self, store: Store) -> None:
        for number, status in enumerate(("fail", "pass", "pass", "excluded")):
            keep(store, number, decision(suite="s", case_id="a", status=status, failure="wrong"),
                 decision(suite="s", case_id="b"))  # fmt: skip
        suite = store.browse.suites(tenant=None)[0]
        # a run under one suite has one decision: of two given for it the last stands
        assert (suite.suite, suite.rule, suite.runs, suite.statuses) == ("s", "", 4, {"pass": 4})
        for number, status in enumerate(("fail", "pass", "pass", "excluded")):
            keep(store, 10 + number, decision(suite="s", case_id="a", status=status, failure="wrong"))
        a, b = store.browse.cases("s", tenant=None, recent=2)
        assert (a.case_id, a.runs, a.statuses) == ("a", 4, {"excluded": 1, "fail": 1, "pass": 2})
        assert [(x.run_id, x.status) for x in a.recent] == [("r12", "pass"), ("r13", "excluded")]
        assert a.last_failure is not None
        assert (a.last_failure.run_id, a.last_failure.failure) == ("r10", "wrong")
        assert (b.case_id, b.last_failure, b.first_ns, b.last_ns) == ("b", None, T0, T0 + 3 * HOUR)
        assert [c.case_id for c in store.browse.cases("s", tenant=None, after="a")] == ["b"]
        assert [c.case_id for c in store.browse.cases("s", tenant=None, limit=1)] == ["a"]
        assert store.browse.cases("s", tenant=None, since_ns=T0 + 10 * HOUR)[0].case_id == "a"
        whole = store.browse.case("s", "a", tenant=None)
        assert whole is not None
        assert len(whole.recent) == 4
        assert {s.cases for s in store.browse.suites(tenant=None, suite="s")} == {2}
        assert store.browse.suites(tenant=None, suite="other") == ()
        assert (store.browse.first_ns(tenant=None), store.browse.first_ns(tenant="other")) == (T0, None)

    def test_catalogs_that_were_seen(self, store: Store) -> None:
        keep(store, 1, catalog_id="c1", tools=TOOLS, agent="x", model="m")
        keep(store, 2, catalog_id="c1", tools=tuple(reversed(TOOLS)), agent="y")
        keep(store, 3, catalog_id="c2", tools=TOOLS[:1])
        keep(store, 4)
        one, two = store.browse.catalogs(tenant=None)
        assert (one.id, one.runs, one.agents, one.models) == ("c1", 2, ("x", "y"), ("m",))
        assert (one.tools, one.first_ns, one.last_ns) == (("refund", "search"), T0 + HOUR, T0 + 2 * HOUR)
        assert two.tools == ("search",)
        whole = store.browse.catalog("c1", tenant=None)
        assert whole is not None
        assert [tool.name for tool in whole.tools] == ["refund", "search"]
        assert whole.tools[1] == TOOLS[0]
        assert store.browse.catalog("c1", tenant=None, since_ns=T0 + 3 * HOUR) is None

    def test_what_is_judged_again_from_kept_runs_stays_with_its_tenant(self, store: Store) -> None:
        store.write_runs([run(attributes={"toolselect.tenant": "a", "other": 1})])
        assert [kept.attributes for kept in store.runs()] == [{"toolselect.tenant": "a"}]
