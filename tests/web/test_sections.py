"""Suites, catalogs and alerts: pages in a browser, their figures, and what may be done there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from otel_toolselect.config import Monitor, Settings
from otel_toolselect.model.runs import Run
from otel_toolselect.store import Store
from tests.web.conftest import Client, PagesOf, fits

SHOWN = ["/suites?since=24h", "/suites/billing-support?since=24h", "/catalogs?since=24h", "/alerts"]


@pytest.mark.parametrize("address", SHOWN)
def test_pages_in_a_browser(
    page: Page, axe: Callable[[Page], None], shots: Callable[[str], None], address: str
) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    axe(page)
    shots(address.split("?")[0].strip("/").replace("/", "-"))
    assert fits(page)


def test_from_a_suite_to_a_run(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None]) -> None:
    page.goto("/suites?since=24h")
    page.get_by_role("link", name="billing-support", exact=True).click()
    page.locator("tbody tr:has(.mark.bad) th a").first.click()
    expect(page.get_by_text("Selection passed")).to_be_visible()
    axe(page)
    shots("case")
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", name="What the agent did")).to_be_visible()


def test_two_catalogs_compared(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None]) -> None:
    page.goto("/catalogs?since=24h")
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", name="Tools", exact=True)).to_be_visible()
    axe(page)
    shots("catalog")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
    axe(page)
    shots("catalog-compare")


def test_figures_of_suites_are_those_of_their_runs(client: Client, runs: list[Run]) -> None:
    suites = {(s["summary"]["suite"], s["summary"]["rule"]): s for s in client.get("/api/v1/suites?since=").json()}
    mine = suites["billing-support", ""]["summary"]
    assert mine["runs"] == sum(run.agent == "billing-support" for run in runs)
    failed = client.get("/api/v1/runs?since=&suite=billing-support&status=fail&size=200").json()["rows"]
    assert mine["statuses"]["fail"] == len(failed)
    cases: list[str] = []
    address = "/api/v1/suites/billing-support?since=&size=30"
    while address:
        found = client.get(address).json()
        cases += [case["history"]["case_id"] for case in found["cases"]]
        address = f"/api/v1/suites/billing-support?since=&size=30&after={found['next']}" if found["next"] else ""
    assert len(cases) == len(set(cases)) == mine["cases"]
    assert client.get("/suites/billing-support/nothing").status_code == 404
    assert client.get("/catalogs/0000").status_code == 404


ALERTS = """
alerts: shop
list:
  - {id: wrong-tool, signal: wrong_tool, window: 5m, condition: {above: 0.1}, min_count: 1, owner: ann}
"""


def test_silences_are_given_and_ended(pages_of: PagesOf, store: Store, tmp_path: Path) -> None:
    (tmp_path / "alerts.yaml").write_text(ALERTS, "utf-8")
    client = pages_of(settings=Settings(monitor=Monitor(alerts=(str(tmp_path / "alerts.yaml"),))))
    assert "wrong-tool" in client.get("/alerts").text
    given = {"match": "alert=wrong-tool\nagent=/billing.*/", "for": "2h", "comment": "a <b>rollout</b>"}
    done = client.submit("/alerts/silences", given, of="/alerts")
    assert done.status_code == 303
    (silence,) = store.alerts.silences()
    assert [(x.name, x.equals, x.pattern) for x in silence.matchers] == [
        ("alert", "wrong-tool", None),
        ("agent", None, "billing.*"),
    ]
    assert abs(silence.until_ns - silence.from_ns - 7_200 * 10**9) < 10**9
    shown = client.get("/alerts").text
    assert "a &lt;b&gt;rollout&lt;/b&gt;" in shown
    assert client.submit("/alerts/silences/expire", {"id": silence.id}, of="/alerts").status_code == 303
    assert store.alerts.silences()[0].until_ns <= time.time_ns()
    wrong = client.submit("/alerts/silences", {"match": "no matcher", "for": "2h"}, of="/alerts")
    assert wrong.status_code == 400
    log = client.get("/api/v1/audit?since=1h").json()["rows"]
    assert {"silence", "silence ended"} <= {row["action"] for row in log}


def test_who_may_silence(pages_of: PagesOf) -> None:
    tokens = """
[[token]]
name = "viewer"
token = "v"
scopes = ["read"]
[[token]]
name = "acme"
token = "a"
scopes = ["read", "label", "admin"]
attributes = {"toolselect.tenant" = "acme"}
"""
    client = pages_of(tokens=tokens)
    viewer, acme = ({"authorization": f"Bearer {token}"} for token in "va")
    assert "Silence something" not in client.get("/alerts", headers=viewer).text
    assert client.post("/alerts/silences", data={"match": "alert=x"}, headers=viewer).status_code == 403
    assert "Silences" not in client.get("/alerts", headers=acme).text
