"""What pages show, from judging to view models, on one store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.app import browse
from otel_toolselect.app.browse import Filters, Reader
from otel_toolselect.app.labels import Desk
from otel_toolselect.config import Settings
from otel_toolselect.errors import UsageError
from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.alerting import Matcher, Silence
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import NoCall, Run, ToolCall, ToolDefinition, ToolResult
from otel_toolselect.rules import load_suite
from otel_toolselect.rules.rulefiles import load_rules
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.alert_api import AlertRecord, Sending
from tests.store.builders import DAY, HOUR, T0, span

SUITE = """suite: shop
version: 3
policy:
  tools:
    search: {effect: read}
    refund: {effect: write, risk: high}
    list_tools: {effect: metadata}
  aliases: {find: search}
cases:
  - {id: back, prompt: money back, expect: {first: [search], never: [refund], args: {search: {q: boots}}}}
  - {id: hello, prompt: hello, expect: {class: none, first: [none]}}
"""
RULES = """rules: guard
version: 3
policy:
  tools: {refund: {effect: write}}
cases:
  - {id: no-refund, expect: {never: [refund]}, severity: warning}
"""
TOOLS = (ToolDefinition("search", "Finds orders."), ToolDefinition("refund", "Pays money back."))
HOSTILE = "<script>alert(1)</script>\u202e'\"&\x00" + "x" * 10_000
NOW = T0 + 10 * DAY
EVER = Filters(since="")


def made(number: int, *calls: tuple[str, dict[str, Any]], day: int = 0, tenant: str = "a", **fields: Any) -> Run:
    """A run of day `day`; its calls alternate with their results."""
    events: list[Any] = []
    for i, (name, args) in enumerate(calls):
        call = ToolCall(i, 2 * i, name, args, f"c{i}", True, True, "genai", span_id=f"{i + 1:016x}")
        events += [call, ToolResult(i, 2 * i + 1, 2 * i, name, f"c{i}", True, {"n": i}, "genai", duration_ns=5)]
    base: dict[str, Any] = {
        "run_id": f"run{number}", "trace_id": f"{number:032x}", "trace_ids": (f"{number:032x}",),
        "events": tuple(events), "request": "money back", "start_ns": T0 + day * DAY + number * HOUR, "model": "m1",
        "agent": "shopper", "service": "shop", "attributes": {"toolselect.tenant": tenant}, "final_text": "Done.",
        "tools": TOOLS, "catalog_id": "sha256:one", "dialects": ("genai",),
    }  # fmt: skip
    return Run(**(base | fields))


REFUND, SHOES, BOOTS = ("refund", {"amount": 5}), ("find", {"q": "shoes"}), ("search", {"q": "boots"})
RUNS = [
    made(1, ("list_tools", {}), REFUND, SHOES),
    made(
        2, BOOTS, day=1, catalog_id="sha256:otwo", tools=(TOOLS[0], replace(TOOLS[1], description="The best refund!"))
    ),
    made(3, BOOTS, day=1),
    made(4, request="hello", day=1, model="m2", no_call=NoCall("none", "a statement", 1.0)),
    made(5, SHOES, day=1, tenant="b", final_text=HOSTILE),
    made(6, day=1, parent_run_id="run2", trace_id=f"{2:032x}", trace_ids=(f"{2:032x}",), request="sub"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "rules.yaml").write_text(RULES)
    return folder


@pytest.fixture(scope="module")
def store(home: Path, files: Path) -> Iterator[Store]:
    opened = open_store(f"chdb://{home}?database=views")
    panel = Panel((load_suite(str(files / "suite.yaml")),), (load_rules(str(files / "rules.yaml")),))
    judged = panel.judge(RUNS)
    opened.write_runs(judged.runs)
    opened.replace_judged(panel.names, judged.runs, judged.verdicts, judged.decisions)
    mine = {"service.name": "shop", "toolselect.tenant": "a"}
    opened.insert([span(1, n, trace_id=f"{1:032x}", resource=mine) for n in (1, 2, 3)], [])
    yield opened
    opened.close()


@pytest.fixture
def reader(store: Store, files: Path) -> Reader:
    settings = Settings()
    live = replace(settings.live, rules=(str(files / "rules.yaml"), str(files / "gone.yaml")))
    return Reader(store, None, replace(settings, live=live), NOW)


def test_a_page_links_to_its_neighbours(reader: Reader) -> None:
    page = browse.run_list(reader, EVER.changed(size=4))
    assert [row.run_id for row in page.rows] == ["run6", "run5", "run4", "run3"]
    assert page.next is not None
    after = browse.run_list(reader, Filters.parse(page.next))
    assert [row.run_id for row in after.rows] == ["run2", "run1"]
    assert after.previous is not None
    assert browse.run_list(reader, Filters.parse(after.previous)).rows == page.rows
    with pytest.raises(UsageError, match="cursor"):
        browse.run_list(reader, EVER.changed(cursor="nonsense"))


def test_what_there_is_to_choose_from(reader: Reader) -> None:
    found = browse.facet_list(reader, EVER.changed(status="fail"))
    assert found.count.n == 2
    assert {v.value: v.n for v in found.values["model"]} == {"m1": 5, "m2": 1}
    assert [v.value for v in found.values["tenant"]] == ["a", "b"]
    assert "tenant" not in browse.facet_list(replace(reader, tenant="a"), EVER).values


def test_a_run_is_told_in_order_with_its_evidence_in_place(reader: Reader) -> None:
    found = browse.run_timeline(reader, "run1", EVER)
    assert found is not None
    told = [(e.kind, e.name, e.content) for e in found.events]
    assert told == [
        ("request", "", "money back"),
        ("tool_call", "list_tools", {}), ("tool_result", "list_tools", {"n": 0}),
        ("tool_call", "refund", {"amount": 5}), ("tool_result", "refund", {"n": 1}),
        ("tool_call", "find", {"q": "shoes"}), ("tool_result", "find", {"n": 2}),
        ("answer", "", "Done."),
    ]  # fmt: skip
    assert [e.position for e in found.events] == list(range(8))
    assert [(e.result, e.result_of) for e in found.events[3:5]] == [(4, None), (None, 3)]
    assert [e.position for e in found.events if e.decides] == [3], "a metadata tool decides nothing"
    assert [e.position for e in found.events if e.ghost] == [1, 5]
    assert found.events[3].spans == found.events[4].spans == (f"{2:016x}",)
    assert set(found.spans) == {f"{n:016x}" for n in (1, 2, 3)}
    suite, rule = found.judgements
    assert {(j.suite, j.rule, j.status) for j in (suite, rule)} == {
        ("shop", "", "fail"), ("guard", "no-refund", "fail"),
    }  # fmt: skip
    by_check = {(f.suite, f.check): f for j in found.judgements for f in j.findings}
    assert by_check["shop", "never"].events == by_check["guard", "never"].events == (3,)
    assert by_check["shop", "first"].events == (3,)
    assert (by_check["shop", "args"].events, by_check["shop", "args"].values) == ((5,), ((5, "$.q"),))
    key = by_check["shop", "args"].key
    assert key in found.events[5].evidence
    assert found.finding(key) == by_check["shop", "args"]
    assert (found.before, found.after) == ("run2", None)


def test_a_rule_that_has_changed_since_explains_nothing(reader: Reader, files: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES.replace("never: [refund]", "first: [refund]"))
    live = replace(reader.settings.live, rules=(str(tmp_path / "rules.yaml"),))
    found = browse.run_timeline(replace(reader, settings=replace(reader.settings, live=live)), "run3")
    assert found is not None
    rule = next(j for j in found.judgements if j.rule)
    assert (rule.status, rule.findings) == ("pass", ())


def test_families_are_linked(reader: Reader) -> None:
    parent, child = browse.run_timeline(reader, "run2"), browse.run_timeline(reader, "run6")
    assert parent is not None
    assert child is not None
    assert [row.run_id for row in parent.children] == ["run6"]
    assert child.parent is not None
    assert child.parent.run_id == "run2"


def test_cells_of_the_matrix_lead_to_their_runs(reader: Reader) -> None:
    found = browse.matrix(reader, EVER.changed(suite="shop"))
    assert {pair: cell.n for pair, cell in found.cells.items()} == {
        ("search", "refund"): 1, ("search", "search"): 3, ("none", "none"): 1,
    }  # fmt: skip
    assert (found.n, found.right.passed) == (5, 4)
    assert found.rows == ("search", "none")
    assert found.columns == ("search", "refund", "none")
    for cell in found.cells.values():
        assert len(browse.run_list(reader, Filters.parse(cell.query)).rows) == cell.n
    search = next(row for row in found.tools if row.name == "search")
    assert (search.recall.passed, search.recall.n, search.precision.n) == (3, 4, 3)
    assert search.recall.ci95 is not None
    assert (found.worst, [c.observed for c in found.confused]) == (search, ["refund"])
    assert sum(point.right.n for point in found.course) == found.n
    assert 1 < len(found.course) <= 60


@pytest.mark.parametrize("since", ["", "1h", "7d", "400d", "1970-01-02"])
def test_a_course_covers_its_window_without_gaps(reader: Reader, since: str) -> None:
    course = [point.window for point in browse.matrix(reader, Filters(since=since)).course]
    assert 1 <= len(course) <= 60
    assert all(a.end_ns == b.start_ns for a, b in pairwise(course))


def test_cases_with_their_history(reader: Reader) -> None:
    rows = browse.suite_list(reader, EVER)
    assert [(row.summary.suite, row.summary.rule, row.summary.runs) for row in rows] == [
        ("guard", "no-refund", 6), ("shop", "", 5),
    ]  # fmt: skip
    assert (rows[1].passed.passed, rows[1].passed.n) == (3, 5)
    view = browse.suite_view(reader, "shop", EVER)
    back, hello = view.cases
    assert [run.status for run in back.history.recent] == ["fail", "pass", "pass", "fail"]
    assert (back.repeated, back.flips, back.changed) == (True, True, True)
    assert (hello.repeated, hello.flips, hello.changed) == (False, False, False)
    assert back.actions == (("search", 3), ("refund", 1))
    assert (view.flip_rate.passed, view.flip_rate.n, view.next) == (1, 1, None)
    first = browse.suite_view(reader, "shop", EVER.changed(size=1))
    assert (first.next, len(first.cases)) == ("back", 1)
    assert browse.suite_view(reader, "shop", EVER, after="back").cases == (hello,)
    assert browse.case_view(reader, "shop", "back", EVER) == back
    assert browse.case_view(reader, "shop", "other", EVER) is None
    assert browse.suite_view(reader, "nothing", EVER).summary is None


def test_catalogs_side_by_side(reader: Reader) -> None:
    assert [seen.id for seen in browse.catalog_list(reader, EVER).catalogs] == ["sha256:one", "sha256:otwo"]
    one = browse.catalog_view(reader, "one", EVER)
    assert one is not None
    assert [seen.id for seen in one.others] == ["sha256:otwo"]
    found = browse.catalog_diff(reader, "sha256:one", "ot", EVER)
    assert found is not None
    assert [(change.name, change.what) for change in found.diff.changed] == [("refund", ("description",))]
    assert "advertising" in {one.kind for one in found.new}
    assert browse.catalog_view(reader, "sha256:no", EVER) is None
    with pytest.raises(UsageError, match="fits 2 catalogs"):
        browse.catalog_view(reader, "sha256:o", EVER)


def test_what_changed_since_the_window_before(reader: Reader) -> None:
    window = Filters(since="2026-11-03T00:00:00Z", until="2026-11-04T00:00:00Z")
    found = browse.overview(reader, window)
    assert (found.runs, found.before) == (5, 1)
    assert (found.right.passed, found.right.n, found.right_before.passed, found.right_before.n) == (4, 4, 0, 1)
    moved = {(c.dimension, c.value): (c.before.rate, c.now.rate) for c in found.changes}
    assert moved["agent", "shopper"][0] == 0.0
    assert {(a.dimension, a.value) for a in found.arrived} >= {("model", "m2"), ("catalog", "sha256:otwo")}
    assert [row.run_id for row in found.latest_failed] == ["run5"]
    assert {m.name for m in found.measures} == {"latency_p95", "tokens", "cost"}
    empty = browse.overview(replace(reader, now_ns=T0 - 9 * DAY), Filters(since="1h"))
    assert (empty.runs, empty.right.rate, empty.changes) == (0, None, ())


def test_the_doctor_looks_at_the_latest_runs(reader: Reader) -> None:
    found = browse.doctor_view(reader, EVER)
    assert (found.traces, [(s.service, s.spans) for s in found.scopes]) == (1, [("shop", 3)])


@pytest.fixture
def labelled(store: Store) -> Iterator[Store]:
    """Two people who disagree on run1, and agree on run3."""
    given = [
        Label("run1", "t", "person", by, expected, "refund", T0, start_ns=RUNS[0].start_ns)
        for by, expected in (("ann", ("search",)), ("raj", ("refund",)))
    ] + [
        Label("run3", "t", "person", by, ("search",), "search", T0, start_ns=RUNS[2].start_ns) for by in ("ann", "raj")
    ]
    store.labels.write(given)
    yield store
    store.labels.write([replace(label, withdrawn=True) for label in given])


def test_a_labeller_is_asked_before_being_told(reader: Reader, labelled: Store) -> None:
    desk = Desk(labelled, reader.settings)
    day = "2026-11-03"
    everybody = browse.label_queue(reader, desk, day)
    assert {item.summary.run_id for item in everybody.items} == {"run2", "run4", "run5", "run6"}
    assert (everybody.left, sum(everybody.sizes.values())) == (4, 5)
    assert len(browse.label_queue(reader, desk, day, "eve", 2).items) == 2
    mine = browse.label_queue(replace(reader, tenant="b"), desk, day, "eve")
    assert ([item.summary.run_id for item in mine.items], mine.left, mine.sizes) == (["run5"], 1, {})
    card = browse.label_card(reader, desk, "run1", "eve")
    assert card is not None
    assert (card.mine, card.others, card.history, card.timeline.labels) == (None, (), (), ())
    assert card.names[:2] == ("search", "refund")
    told = browse.label_card(reader, desk, "run1", "ann")
    assert told is not None
    assert (told.mine is not None, [x.labeller for x in told.others], len(told.history)) == (True, ["raj"], 2)
    assert browse.label_card(replace(reader, tenant="b"), desk, "run1", "ann") is None


def test_disputes_are_where_opinions_differ(reader: Reader, labelled: Store) -> None:
    found = browse.label_disputes(reader, EVER)
    assert [(d.summary.run_id, [x.labeller for x in d.labels]) for d in found] == [("run1", ["ann", "raj"])]
    assert browse.label_disputes(replace(reader, tenant="b"), EVER) == ()


def test_alerts_silences_and_what_was_sent(reader: Reader, store: Store) -> None:
    by_tenant = '{"tenant": "a"}'
    store.alerts.write_records([
        AlertRecord("quiet", "{}", "damaged"), AlertRecord("cut", by_tenant, "damaged", "firing"),
    ])  # fmt: skip
    matchers = (Matcher("alert", equals="cut"),)
    store.alerts.write_silence(Silence("on", matchers, NOW - 1, NOW + 1, "ann"))
    store.alerts.write_silence(Silence("soon", matchers, NOW + 1, NOW + 2, "ann"))
    store.alerts.write_silence(Silence("over", matchers, 0, NOW, "ann"))
    store.alerts.add_sendings([Sending("k", "pager", "delivered", "cut", "fire", NOW, NOW, "no record", says="bad")])
    found = browse.alerts_view(reader)
    assert {row.status.alert for row in found.alerts} == {"quiet", "cut"}
    assert {row.silence.id: row.state for row in found.silences} == {"on": "active", "soon": "coming", "over": "over"}
    assert [(row.receiver, row.outcome, row.says, row.notification) for row in found.sendings] == [
        ("pager", "delivered", "bad", None)
    ]
    mine = browse.alerts_view(replace(reader, tenant="a"))
    assert ([row.status.alert for row in mine.alerts], mine.silences, mine.sendings) == (["cut"], (), ())
    assert browse.alerts_view(replace(reader, tenant="b")).alerts == ()
    broken = replace(reader.settings, monitor=replace(reader.settings.monitor, alerts=("no such file",)))
    assert "no such file" in browse.alerts_view(replace(reader, settings=broken)).problem


def test_nobody_sees_what_is_another_tenants(reader: Reader) -> None:
    other = replace(reader, tenant="c")
    assert browse.run_list(other, EVER).rows == ()
    assert browse.run_timeline(other, "run1") is None
    assert browse.matrix(other, EVER).n == 0
    assert browse.suite_list(other, EVER) == browse.suite_view(other, "shop", EVER).cases == ()
    assert browse.case_view(other, "shop", "back", EVER) is None
    assert browse.catalog_list(other, EVER).catalogs == ()
    assert browse.catalog_view(other, "sha256:one", EVER) is None
    assert browse.doctor_view(other, EVER).scopes == ()
    seen = browse.overview(other, EVER)
    assert (seen.runs, seen.right.n, seen.failures, seen.latest_failed) == (0, 0, (), ())
    half = browse.matrix(replace(reader, tenant="b"), EVER.changed(suite="shop", tenant="a"))
    assert half.n == 1, "a filter does not widen what may be read"


def test_hostile_texts_are_data(reader: Reader) -> None:
    found = browse.run_timeline(reader, "run5")
    assert found is not None
    assert found.events[-1].content == HOSTILE
    for text in ("<script>", "\u202e'\"&", "';--", "{x:String}", "%' OR 1=1"):
        rows = browse.run_list(reader, Filters.parse([("text", text), ("since", "")])).rows
        assert [row.run_id for row in rows] == (["run5"] if text in HOSTILE else [])
