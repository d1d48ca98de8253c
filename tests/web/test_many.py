"""Pages with 100,000 runs behind them: every list comes in one piece, pages of it follow one another."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from benchmarks.browse import DAY_NS, DAYS, fill_part
from playwright.sync_api import Page, expect

from otel_toolselect.store import Store, open_store

COUNT = 100_000
ADDRESSES = [
    "/?since=30d",
    "/runs?since=30d&sort=-duration",
    "/runs?since=30d&status=fail&called=tool7",
    "/confusion?since=30d&suite=support",
    "/suites?since=30d",
    "/suites/support?since=30d",
    "/suites/support/case7?since=30d",
    "/catalogs?since=30d",
    "/labels",
    "/alerts",
    "/doctor?since=30d",
    "/audit",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """In place of the one with a few captures."""
    opened = open_store(f"chdb://{tmp_path_factory.mktemp('many')}")
    fill_part(opened, 0, COUNT, COUNT, time.time_ns() - DAYS * DAY_NS)
    yield opened
    opened.close()


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_page_is_there(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert len(page.content()) < 3_000_000


def test_on_and_on_through_the_list(page: Page) -> None:
    page.goto("/runs?since=30d&agent=agent1&model=model2&sort=-duration")
    seen: set[str] = set()
    for _ in range(4):
        found = page.locator("tbody th a").evaluate_all("links => links.map(a => a.pathname)")
        assert len(found) == 50
        assert not seen & set(found)
        seen |= set(found)
        page.get_by_role("link", name="Next →").click()
        page.wait_for_url("**cursor=**")
    page.get_by_role("link", name="← Previous").click()
    expect(page.locator("tbody tr")).to_have_count(50)
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", name="What the agent did")).to_be_visible()
