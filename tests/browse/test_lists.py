"""Lists of the store are what a look at every run would find: filters, order, pages, counts, neighbours."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.browse_api import MARKS, SORTS, RunFilter, RunPage
from tests.browse.history import TOOLS, WORDS, History
from tests.store.builders import DAY, HOUR, T0

Known = tuple[Store, History]
_property = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    """No limit mostly: with all filters at once hardly a run would be left."""
    return st.just(()) | st.just(()) | st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True).map(tuple)


TIMES = st.none() | st.sampled_from([T0, T0 + 1, T0 + HOUR, T0 + DAY, T0 + 9 * DAY, T0 + 40 * DAY, T0 + 99 * DAY])
FILTERS = st.builds(
    RunFilter,
    since_ns=TIMES,
    until_ns=TIMES,
    suite=some("s", "p", "labels", "p/never", "p/a/b", "nothing"),
    status=some("pass", "fail", "needs_review"),
    failure=some("wrong", "it's"),
    owner=some("ann", "raj"),
    origin=some("suite", "rule", "person", "judge"),
    expected=some(*TOOLS),
    observed=some(*TOOLS),
    agent=some("a", "b"),
    service=some("shop", "it's"),
    model=some("m1", "m2"),
    provider=some("p"),
    prompt=some("v1", "v2"),
    catalog=some("k"),
    tenant=some("t1", "t2"),
    label=some("l"),
    case=some("c1", "c2"),
    first_action=some(*TOOLS),
    called=some(*TOOLS[:3]),
    has=some(*MARKS),
    text=st.just("") | st.just("") | st.sampled_from([*WORDS, "ORDER ", "%", "_", "\\", "0000001", "0007CAFE", "e"]),
)


def walked(store: Store, of: RunFilter, size: int, **asked: Any) -> list[RunPage]:
    pages = [store.browse.runs(of, limit=size, **asked)]
    while pages[-1].next:
        pages.append(store.browse.runs(of, limit=size, cursor=pages[-1].next, **asked))
    return pages


def ids(pages: list[RunPage]) -> list[str]:
    return [row.run_id for page in pages for row in page.rows]


@_property
@given(of=FILTERS, sort=st.sampled_from(SORTS), descending=st.booleans(),
       tenant=st.none() | st.sampled_from(["", "t1", "t3"]))  # fmt: skip
def test_a_list_is_what_brute_force_finds(
    known: Known, of: RunFilter, sort: Any, descending: bool, tenant: str | None
) -> None:
    store, history = known
    wanted = history.ordered(history.fitting(of, tenant), sort, descending)
    # pages of which several are needed, and few enough of them
    size = max(3, len(wanted) // 3)
    asked: dict[str, Any] = {"tenant": tenant, "sort": sort, "descending": descending}
    pages = walked(store, of, size, **asked)
    assert ids(pages) == wanted
    assert store.browse.count(of, tenant=tenant).n == len(wanted)
    back = pages[-1]
    for page in reversed(pages[:-1]):
        back = store.browse.runs(of, limit=size, cursor=back.previous, **asked)
        assert back.rows == page.rows
    assert back.previous is None or len(pages) == 1
    if wanted:
        i = len(wanted) // 2
        around = (wanted[i - 1] if i else None, wanted[i + 1] if i + 1 < len(wanted) else None)
        assert store.browse.neighbours(wanted[i], of, **asked) == around


def test_rows_say_what_the_decisions_say(known: Known) -> None:
    store, history = known
    rows = [row for page in walked(store, RunFilter(), 200, tenant=None) for row in page.rows]
    assert len(rows) == len(history.runs)
    for row in rows:
        facts, *said = history.decisions[row.run_id]
        run = history.runs[row.run_id]
        assert row.request == (None if run.request is None else run.request[:300])
        assert (row.duration_ns, row.input_tokens, row.cost_usd) == (
            facts.duration_ns, facts.input_tokens, facts.cost_usd,
        )  # fmt: skip
        assert (row.agent, row.label, row.tenant, row.calls) == (
            facts.agent, facts.label, facts.tenant, len(facts.calls),
        )  # fmt: skip
        assert row.incomplete == (facts.excluded == "incomplete")
        told = sorted((d.suite, d.rule, d.status, d.cells[0].expected if d.cells else None) for d in said)
        assert [(s.suite, s.rule, s.status, s.expected) for s in row.standings] == told


def test_facets_name_what_runs_have(known: Known) -> None:
    store, history = known
    found = store.browse.facets(RunFilter(), tenant=None)
    facts = [decisions[0] for decisions in history.decisions.values()]
    assert {v.value for v in found["agent"]} == {d.agent for d in facts if d.agent}
    assert {v.value for v in found["called"]} == {name for d in facts for name, _ in d.calls}
    said = [d for decisions in history.decisions.values() for d in decisions[1:]]
    assert {v.value for v in found["failure"]} == {d.failure for d in said if d.failure and d.counts}


def test_what_arrives_while_paging_loses_and_repeats_nothing(home: Path) -> None:
    """A writer at work between and during the reads of pages: new runs, runs judged again, in the middle and ahead."""
    store = open_store(f"chdb://{home}?database=live")
    _write(store, [(f"old{i:03}", T0 + i * 60 * 10**9) for i in range(60)])
    there = {row.run_id for row in store.browse.runs(RunFilter(), tenant=None, limit=200).rows}
    stop = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not stop.is_set() and number < 300:
            number += 1
            at = T0 + number % 60 * 60 * 10**9
            _write(store, [(f"new{number:03}a", at + 1), (f"new{number:03}b", T0 + DAY), (f"old{number % 60:03}", at)])

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(keep_writing)
        try:
            for descending in (True, False):
                seen = ids(walked(store, RunFilter(), 9, tenant=None, descending=descending))
                assert len(seen) == len(set(seen))
                assert there <= set(seen)
        finally:
            stop.set()
        writing.result()
    store.close()


def _write(store: Store, runs: list[tuple[str, int]]) -> None:
    made = [Run(run_id, "t", ("t",), (), start_ns=start) for run_id, start in runs]
    base = Decision("", "", "", "t", "", 0, "n/a", "none", "none")
    store.write_runs(made)
    store.replace_judged([""], made, [], [replace(base, run_id=r.run_id, start_ns=r.start_ns) for r in made])
