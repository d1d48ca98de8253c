"""Runs: the list with its filters, and one run as a timeline."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from otel_toolselect.model.runs import Run
from otel_toolselect.web.document import LINES, document
from tests.web.conftest import Client, PagesOf, fits


def test_the_list_in_a_browser(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None]) -> None:
    page.goto("/runs?since=24h&sort=-calls")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    axe(page)
    shots("runs")
    page.get_by_label("Status").select_option("fail")
    page.wait_for_url("**status=fail**")
    expect(page.locator("tbody .badge.bad").first).to_be_visible()
    assert page.locator("tbody .badge.good").count() == 0
    page.get_by_label("Status", exact=True).select_option("pass")
    page.wait_for_url("**status=pass**")
    assert "status=fail" not in page.url  # another choice, not one more
    page.get_by_label("Search in request").fill("refund")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**text=refund**")
    shared = page.url
    assert "suite=" not in shared  # what was left open does not stand in the address
    rows = page.locator("tbody tr").count()
    assert rows
    page.goto(shared)
    assert page.locator("tbody tr").count() == rows
    assert fits(page)


def test_one_run_in_a_browser(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None]) -> None:
    page.goto("/runs?since=24h&status=fail&suite=billing-support")
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", name="What the agent did")).to_be_visible()
    axe(page)
    shots("run")
    page.locator(".finding a").first.click()
    assert "#e" in page.url
    page.get_by_text("Raw span").first.click()
    expect(page.locator(".raw pre").first).to_contain_text("span_id")
    assert fits(page)


def test_each_kind_of_run_has_a_page_and_is_in_the_api(client: Client, runs: list[Run]) -> None:
    seen = {(run.agent, run.dialects, run.observed_class): run for run in runs}  # one of each kind
    assert len(seen) > 5
    for run in seen.values():
        shown = client.get(f"/runs/{run.run_id}")
        assert shown.status_code == 200
        assert "What the agent did" in shown.text
        found = client.get(f"/api/v1/runs/{run.run_id}").json()
        assert found["run"]["run_id"] == run.run_id
        calls = [e["name"] for e in found["events"] if e["kind"] == "tool_call"]
        assert calls == [call.name for call in run.calls]
    assert client.get("/runs/nothing").status_code == 404
    assert client.get("/api/v1/runs/nothing").json()["status"] == 404


def test_pages_of_the_list_hold_every_run_once(client: Client, runs: list[Run]) -> None:
    seen: list[str] = []
    address = "/api/v1/runs?since=&size=7&sort=duration"
    while address:
        found = client.get(address).json()
        seen += [row["run_id"] for row in found["rows"]]
        address = f"/api/v1/runs?{found['next']}" if found["next"] else ""
    assert sorted(seen) == sorted(run.run_id for run in runs)
    facets = client.get("/api/v1/facets?since=").json()
    assert facets["count"] == {"n": len(runs), "exact": True}
    assert {v["value"] for v in facets["values"]["agent"]} >= {"billing-support"}


@pytest.mark.parametrize("address", ["/runs", "/api/v1/runs"])
def test_a_tenant_sees_its_own(pages_of: PagesOf, runs: list[Run], address: str) -> None:
    tokens = """
[[token]]
name = "acme"
token = "acme-secret"
scopes = ["read"]
attributes = {"toolselect.tenant" = "acme"}
"""
    client = pages_of(tokens=tokens)
    assert client.get(address).status_code in (303, 401)
    own = {"authorization": "Bearer acme-secret"}
    text = client.get(f"{address}?since=&size=200", headers=own).text
    foreign = [run.run_id for run in runs if run.agent == "billing-support"]
    assert foreign
    assert not any(run_id in text for run_id in foreign)
    assert any(run.run_id in text for run in runs)
    other = client.get(f"/api/v1/runs/{foreign[0]}", headers=own)
    assert other.status_code == 404


def test_documents_mark_what_evidence_is_about() -> None:
    found = document({"a": {"b": [1, {"c": 2}]}, "d": []}, {"$.a.b[1]"})
    assert [(line.depth, line.text, line.marked) for line in found.lines] == [
        (0, "{", False),
        (1, '"a": {', False),
        (2, '"b": [', False),
        (3, "1,", False),
        (3, "{", True),
        (4, '"c": 2', True),
        (3, "}", True),
        (2, "]", False),
        (1, "},", False),
        (1, '"d": []', False),
        (0, "}", False),
    ]
    assert document("text").plain
    long = document(list(range(LINES + 5)))
    assert (len(long.lines), long.left) == (LINES, True)
