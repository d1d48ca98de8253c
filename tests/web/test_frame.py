"""The frame of the pages in a browser: it loads nothing from elsewhere, runs no script of others, fits a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from otel_toolselect.app.audit import Origin, note
from otel_toolselect.store import Store
from tests.web.conftest import Client, fits


def test_the_first_page(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None], served: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    expect(page).to_have_title("Overview - toolselect")
    assert all(url.startswith(served) for url in asked)
    axe(page)
    shots("overview")
    assert fits(page)


def test_the_doctor(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None]) -> None:
    page.goto("/doctor")
    expect(page.get_by_role("heading", name="What turns on the missing")).to_be_visible()
    axe(page)
    shots("doctor")
    assert fits(page)


def test_the_audit_log(page: Page, axe: Callable[[Page], None], shots: Callable[[str], None], store: Store) -> None:
    origin = Origin("ann", "session", "10.0.0.7")
    note(store, origin, [("", "label", "4f3c2a1b", {"labeller": "ann", "expected": ["refund", "find"]})])
    note(store, Origin("<script>alert(1)</script>\u202eevil", "oidc"), [("", "silence", "s-1", {"comment": "x" * 300})])
    page.goto("/audit?since=24h")
    expect(page.get_by_role("cell", name="refund, find")).to_be_visible()
    page.get_by_label("What", exact=True).select_option("silence")
    page.wait_for_url("**/audit?*action=silence*")
    expect(page.get_by_role("cell", name="refund, find")).to_have_count(0)
    assert page.get_by_text("<script>alert(1)</script>\\u202eevil").is_visible()
    axe(page)
    shots("audit")
    assert fits(page)


def test_headers(client: Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
