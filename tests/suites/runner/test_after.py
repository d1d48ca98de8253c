"""After a fix (R53): the failing cluster and the core are run again, and what moved is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel_toolselect import gates
from otel_toolselect.app.rerunning import After
from otel_toolselect.cli import main
from otel_toolselect.errors import UsageError
from otel_toolselect.reports import comparison_table, parse_report, render
from tests.suites.runner.conftest import Shop, by_case

CALLABLE = "tests.suites.runner.agent:stated"


def again(ran: Any) -> Any:
    """The report as it is after a detour through its file."""
    return parse_report(render("json", ran.done.report), where="report.json")


def test_the_failing_and_the_core(shop: Shop) -> None:
    shop.script({"invoice": [{"call": "find_orders"}], "hello": [{"call": "find_orders"}]})
    before = again(shop.run("callable", CALLABLE))
    shop.script({"refund": [{"call": "get_invoice"}]})
    ran = shop.run("callable", CALLABLE, to="after", after=After(before, [("get_invoice", "find_orders")]))
    # invoice failed there; refund is of the core; hello is neither of the core nor of the cluster
    assert set(by_case(ran)) == {("invoice", 1), ("refund", 1)}
    found = gates.compare([("before", before), ("after", ran.done.report)])
    told = [(m.kind, m.expected, m.before, m.after, m.cases) for m in found.against[0].moves]
    assert told == [
        ("broken", "refund_order", "refund_order", "get_invoice", ("refund",)),
        ("fixed", "get_invoice", "find_orders", "get_invoice", ("invoice",)),
    ]
    text = comparison_table(found)
    assert "broken: wanted refund_order, took refund_order, now get_invoice: 1 case (refund)" in text
    whole = shop.run("callable", CALLABLE, to="whole", after=After(before))
    assert len(by_case(whole)) == 3


def test_a_cluster_that_is_not_there(shop: Shop) -> None:
    shop.script({"invoice": [{"call": "find_orders"}]})
    before = again(shop.run("callable", CALLABLE))
    with pytest.raises(UsageError, match="no failure there of a:b; failures: get_invoice:find_orders"):
        shop.run("callable", CALLABLE, to="after", after=After(before, [("a", "b")]))


def test_on_the_command_line(shop: Shop, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shop.script({"invoice": [{"call": "find_orders"}]})
    path = tmp_path / "before.json"
    path.write_text(render("json", shop.run("callable", CALLABLE).done.report), "utf-8")
    shop.script({})
    asked = [
        "run",
        "--suite",
        str(shop.suite),
        "--callable",
        CALLABLE,
        "--after",
        str(path),
        "--dir",
        str(tmp_path / "x"),
        "-j1",
    ]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--cluster", "get_invoice:find_orders"])
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "fixed: wanted get_invoice, took find_orders, now get_invoice: 1 case (invoice)" in out
    with pytest.raises(SystemExit) as ended:
        main([*asked[:5], "--cluster", "a:b"])
    assert ended.value.code == 2
