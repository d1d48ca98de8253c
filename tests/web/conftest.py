"""Pages on a store with real traffic (`world`): through starlette's client, and in a real browser.

    client      a browser without windows on the pages of this machine, where nobody signs in (`web.person.LOCAL`)
    pages_of    makes clients of other sites: tokens, settings, other addresses
    page        a tab of Chromium on the pages of the module; at its end nothing was blocked and no script failed
    axe         no finding of axe that is serious or critical, in light and dark
    shots       pictures of a page, light and dark, wide and narrow, in the folder that TOOLSELECT_SHOTS names

Stores are copies of one that is filled once: chDB holds one directory per process, so each module opens its own.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from starlette.testclient import TestClient

from otel_toolselect.app import parts
from otel_toolselect.config import Settings
from otel_toolselect.model.runs import Run
from otel_toolselect.receive.access import Access
from otel_toolselect.store import Store, open_store
from otel_toolselect.web.app import pages_app
from otel_toolselect.web.site import Site
from tests.reports.browser import program
from tests.web import world

KEY = b"a key of tests, longer than it must be"
LOCALHOST = "http://localhost"
WIDE, NARROW = (1280, 900), (390, 844)
PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Run]]:
    folder = tmp_path_factory.mktemp("filled") / "store"
    return folder, world.fill(f"chdb://{folder}")


@pytest.fixture(scope="module")
def runs(filled: tuple[Path, list[Run]]) -> list[Run]:
    """The runs in the store, as they were assembled."""
    return filled[1]


@pytest.fixture(scope="module")
def store(filled: tuple[Path, list[Run]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of the module; what one test writes the next one sees."""
    folder = world.copied(filled[0], tmp_path_factory.mktemp("pages") / "store")
    opened = open_store(f"chdb://{folder}")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def site(store: Store) -> Site:
    """On loopback without tokens."""
    return Site(
        store, Settings(), Access(), KEY, parts=(partial(parts.storing, store), partial(parts.monitoring, None))
    )


class Client(TestClient):
    """Posts forms as a page would: with the token that the page before it held."""

    def submit(self, path: str, data: dict[str, str] | None = None, *, of: str = "/sign-in", **more: Any) -> Any:
        """Posts a form that stands on the page `of`."""
        return self.post(path, data={**(data or {}), "csrf": csrf_of(self.get(of).text)}, **more)


def csrf_of(text: str) -> str:
    return text.split('"X-CSRF-Token": "')[1].split('"')[0]


@pytest.fixture
def client(site: Site) -> Client:
    return client_of(site)


def client_of(site: Site, base_url: str = LOCALHOST) -> Client:
    return Client(pages_app(site), base_url=base_url, follow_redirects=False)


PagesOf = Callable[..., Client]


@pytest.fixture
def pages_of(site: Site, tmp_path: Path) -> PagesOf:
    """`pages_of(tokens=TOML, settings=..., base_url=..., **changes of the site)`."""

    def made(
        tokens: str = "",
        token: str | None = None,
        settings: Settings | None = None,
        base_url: str = LOCALHOST,
        **more: Any,
    ) -> Client:
        file = tmp_path / "tokens.toml"
        if tokens:
            file.write_text(tokens, "utf-8")
            file.chmod(0o600)
        access = Access(token, tokens=file if tokens else None)
        return client_of(replace(site, access=access, settings=settings or site.settings, **more), base_url)

    return made


# in a browser


@contextmanager
def listening(site: Site) -> Iterator[str]:
    """The address of pages that a browser can reach."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.bind(("127.0.0.1", 0))
    bound.listen()  # at once: whoever comes before the server's thread has started waits, and is not refused
    config = uvicorn.Config(pages_app(site), log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        bound.close()


@pytest.fixture(scope="module")
def served(site: Site) -> Iterator[str]:
    """The address of the module's pages."""
    with listening(site) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of the module and no longer: while it is open an event loop counts as running in this thread, so that nothing of
    it may call `asyncio.run`.
    """
    executable = program()
    if executable is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield made
        made.close()


@pytest.fixture
def page(browser: Browser, served: str) -> Iterator[Page]:
    context = browser.new_context(base_url=served, viewport={"width": WIDE[0], "height": WIDE[1]}, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on("console", lambda message: _note(troubles, message))
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    yield opened
    context.close()
    assert not troubles, "the console of the page"


def _note(troubles: list[str], message: ConsoleMessage) -> None:
    """Refusals of the content security policy come as errors."""
    if message.type in ("error", "warning") and "status of 4" not in message.text:
        troubles.append(message.text)


@pytest.fixture
def axe() -> Callable[[Page], None]:
    def check(page: Page) -> None:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            # its script is set into the page by the driver, which the content security policy does not bind
            found = Axe().run(page).response["violations"]
            grave = [v for v in found if v["impact"] in ("serious", "critical")]
            told = [f"{theme}: {v['id']}: {[node['html'][:200] for node in v['nodes'][:3]]}" for v in grave]
            assert not told, "\n".join(told)
        page.emulate_media(color_scheme=None)

    return check


@pytest.fixture
def shots(page: Page, tmp_path: Path) -> Callable[[str], None]:
    """`shots("runs")`: the page that is open, four times."""
    folder = Path(os.environ.get("TOOLSELECT_SHOTS") or tmp_path)

    def take(name: str) -> None:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            for width, height in (WIDE, NARROW):
                page.set_viewport_size({"width": width, "height": height})
                page.screenshot(path=folder / f"{name}-{theme}-{width}.png", full_page=True)
        page.emulate_media(color_scheme=None)
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})

    return take


def fits(page: Page) -> bool:
    """Whether nothing sticks out of a phone's window sideways."""
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
