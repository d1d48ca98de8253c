"""The heat map: its figures are those of the store, its cells lead to their runs, its address can be shared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from otel_toolselect.app.browse.figure_models import MatrixCell
from otel_toolselect.web.pages.confusion import shade
from tests.web.conftest import Client, PagesOf, fits

SUITE = "/confusion?since=24h&suite=billing-support"


def test_the_heat_map_in_a_browser(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None]) -> None:
    page.goto("/confusion?since=24h")
    page.get_by_label("Suite").select_option("billing-support")
    page.wait_for_url("**suite=billing-support**")
    expect(page.locator(".matrix td.right a").first).to_be_visible()
    axe(page)
    shots("confusion")
    wrong = page.locator(".matrix td a:has(.sign)").first
    n = int(wrong.inner_text().split()[0].replace("✗", ""))
    wrong.click()
    page.wait_for_url("**/runs?**")
    assert page.locator("tbody tr").count() == n
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    assert page.locator("tbody tr").count() == n
    page.goto(SUITE)
    assert fits(page)


def test_cells_and_runs_agree(client: Client) -> None:
    found = client.get(f"/api/v1{SUITE}").json()
    assert found["n"] == sum(cell["n"] for cell in found["cells"])
    assert found["right"]["passed"] == sum(c["n"] for c in found["cells"] if c["expected"] == c["observed"])
    for cell in found["cells"]:
        listed = client.get(f"/api/v1/runs?{cell['query']}&size=200").json()
        assert len(listed["rows"]) == cell["n"], cell
    for tool in found["tools"]:
        row = [c for c in found["cells"] if c["expected"] == tool["name"]]
        assert tool["recall"]["n"] == sum(c["n"] for c in row)
    assert client.get(SUITE).text.count('<td class="d') == sum(c["expected"] == c["observed"] for c in found["cells"])


def test_nothing_to_show_says_what_to_do(client: Client) -> None:
    assert "Take a filter away" in client.get("/confusion?suite=nothing").text


def test_a_tenant_has_a_matrix_of_its_own(pages_of: PagesOf) -> None:
    client = pages_of(
        tokens='[[token]]\nname="a"\ntoken="t"\nscopes=["read"]\nattributes={"toolselect.tenant"="acme"}\n'
    )
    own = {"authorization": "Bearer t"}
    assert client.get("/api/v1/confusion?since=&suite=billing-support", headers=own).json()["n"] == 0
    everything = client.get("/api/v1/confusion?since=", headers=own).json()
    asked_for_another = client.get("/api/v1/confusion?since=&tenant=globex", headers=own).json()
    assert asked_for_another["cells"] == everything["cells"] or not asked_for_another["cells"]


@pytest.mark.parametrize(("share", "right", "wanted"), [(0.01, True, "d1"), (0.2, False, "o1"), (1.0, True, "d5")])
def test_shades(share: float, right: bool, wanted: str) -> None:
    assert shade(MatrixCell("a", "a" if right else "b", 1, share, "")) == wanted
