"""ConfusionService: the figures of `toolselect confusion --window`, of the caller's tenant alone."""

from __future__ import annotations

from itertools import pairwise

import pytest

from otel_toolselect.client import RefusedError, ServerAwayError
from otel_toolselect.errors import InputError, StoreError, UsageError
from otel_toolselect.model.alerting import Scope
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.rates import rate
from otel_toolselect.store.clickhouse import ClickHouseStore
from tests.rpc import traffic
from tests.rpc.traffic import HOUR_NS, client, window

RIGHT_OF_A = {Cell("find", "find"): 1, Cell("refund", "refund"): 1}
WRONG_OF_B = {Cell("refund", "find"): 1}


def counts(found) -> dict[Cell, int]:
    total: dict[Cell, int] = {}
    for one in found:
        for cell, n in one.confusion.cells:
            total[cell] = total.get(cell, 0) + n
    return total


def test_the_figures_of_a_window(running) -> None:
    with client(running, "all") as asking:
        (day,) = asking.confusion("1d", **window())
    assert dict(day.confusion.cells) == RIGHT_OF_A | WRONG_OF_B
    assert day.right == rate(2, 3)
    refund = day.confusion.tools["refund"]
    assert (refund.recall, refund.precision, refund.support, refund.chosen, refund.correct) == (0.5, 1.0, 2, 1, 1)
    assert (day.confusion.worst_recall.tool, day.confusion.worst_recall.support) == ("refund", 2)
    assert (day.window.end_ns - day.window.start_ns, day.window.start_ns % (24 * HOUR_NS)) == (24 * HOUR_NS, 0)


@pytest.mark.parametrize(("name", "expected"), [("a", RIGHT_OF_A), ("b", WRONG_OF_B), ("all", RIGHT_OF_A | WRONG_OF_B)])
def test_each_tenant_its_own(running, name, expected) -> None:
    with client(running, name) as asking:
        assert counts(asking.confusion("1h", **window())) == expected
        by = asking.confusion("1d", by=["tenant", "agent"], **window())
        assert {dict(one.series)["tenant"] for one in by} == ({"a", "b"} if name == "all" else {name})
        assert {dict(one.series)["agent"] for one in by} == {"shop"}


def test_a_scope_that_names_another_tenant_shows_nothing(running) -> None:
    with client(running, "a") as asking:
        assert counts(asking.confusion("1d", scope=Scope(tenant=("b",)), **window())) == {}
        assert asking.confusion("1d", scope=Scope(tenant=("b",)), by=["agent"], **window()) == ()
        assert counts(asking.confusion("1d", scope=Scope(tenant=("a", "b")), **window())) == RIGHT_OF_A


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(suite=("shop",)), RIGHT_OF_A | WRONG_OF_B),
        (Scope(suite=("nothing",)), {}),
        (Scope(tool=("find",)), {Cell("find", "find"): 1}),
        (Scope(pair=("refund", "find")), WRONG_OF_B),
        (Scope(agent=("shop",), service=("shop",), model=("m-1",), origin=("suite",)), RIGHT_OF_A | WRONG_OF_B),
        (Scope(agent=("other",)), {}),
    ],
)
def test_scopes(running, scope, expected) -> None:
    with client(running, "all") as asking:
        assert counts(asking.confusion("1w", scope=scope, **window())) == expected


def test_windows_that_slide_and_a_zone(running) -> None:
    with client(running, "all") as asking:
        sliding = asking.confusion("1h", slide="30m", **window())
        assert [b.window.start_ns - a.window.start_ns for a, b in pairwise(sliding)] == (
            [HOUR_NS // 2] * (len(sliding) - 1)
        )
        assert sum(one.right.n for one in sliding) == 6  # each run in two of them
        (day,) = asking.confusion("1d", zone="Asia/Kolkata", since_ns=traffic.START, until_ns=traffic.START + 10**9)
        assert day.window.start_ns % (24 * HOUR_NS) == 18.5 * HOUR_NS


def test_an_empty_window_has_no_rate(running) -> None:
    with client(running, "all") as asking:
        (hour,) = asking.confusion("1h", since_ns=0, until_ns=HOUR_NS)
        assert (hour.right.n, hour.right.rate, hour.right.ci95, hour.confusion.worst_recall) == (0, None, None, None)
        assert len(asking.confusion("1h")) == 25  # the last ones, up to now


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"window": "soon"}, "window 'soon' is no length"),
        ({"window": "1h", "slide": "x"}, "slide 'x' is no length"),
        ({"window": "1h", "slide": "2h"}, "leave out"),
        ({"window": "1d", "slide": "1h"}, "slide by days"),
        ({"window": "1h", "zone": "Mars/Base"}, "Mars/Base"),
        ({"window": "1h", "zone": "../../etc/passwd"}, "passwd"),
        ({"window": "1h", "by": ["colour"]}, "'colour' is not one of suite"),
        ({"window": "1h", "since_ns": 5, "until_ns": 5}, "is not after since"),
        ({"window": "1s", "since_ns": 0, "until_ns": 10**18}, "more than 10,000 windows"),
        ({"window": "1h", "until_ns": 2**64 - 1}, "later than"),
        ({"window": f"{10**12}d", "since_ns": 0}, "window|10000"),
    ],
)
def test_what_cannot_be_is_said(running, asked, said) -> None:
    with client(running, "all") as asking, pytest.raises(InputError, match=said):
        asking.confusion(**asked)


def test_who_may_not_read_and_who_asks_wrongly(running) -> None:
    with client(running, "send-a") as asking, pytest.raises(RefusedError):
        asking.confusion("1h")
    with client(running, "a") as asking, pytest.raises(UsageError, match="by is a list"):
        asking.confusion("1h", by="agent")


def test_a_store_that_is_away_is_said_and_its_text_is_not(running, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreError("Code: 210. secret value in a query")

    with client(running) as asking:
        monkeypatch.setattr(ClickHouseStore, "confusion", away)
        with pytest.raises(ServerAwayError) as caught:
            asking.confusion("1h")
        monkeypatch.undo()
        assert "secret" not in str(caught.value)
        assert caught.value.retryable
        assert asking.confusion("1h")
