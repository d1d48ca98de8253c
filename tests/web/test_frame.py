"""The frame of the pages in a browser: it loads nothing from elsewhere, runs no script of others, fits a phone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect

from otel_toolselect.app.audit import Origin, note
from otel_toolselect.receive.access import Access
from otel_toolselect.store import Store
from otel_toolselect.web.site import Site
from tests.web.conftest import Client, fits, listening
from tests.web.test_signin import ANN, TOKENS


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


def test_signing_in_and_out(
    page: Page, axe: Callable[[Page], None], shots: Callable[[str], None], site: Site, tmp_path: Path
) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS, "utf-8")
    with listening(replace(site, access=Access(tokens=tmp_path / "tokens.toml"))) as url:
        page.goto(f"{url}/doctor?since=24h")
        page.get_by_label("Token with the scope read").fill("no-such-token")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").filter(has_text="no token")).to_be_visible()
        axe(page)
        shots("sign-in")
        page.get_by_label("Token with the scope read").fill(ANN)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{url}/doctor?since=24h")
        expect(page.get_by_text("ann admin")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.goto(f"{url}/doctor")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_theme_stays(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/audit")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark, "the server knows it, so that nothing flashes"
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(ground) == light


def test_headers(client: Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
