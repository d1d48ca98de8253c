"""The frame of the pages in a browser: it loads nothing from elsewhere, runs no script of others, fits a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

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


def test_headers(client: Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
