"""The HTML report in a real browser: what a reader clicks, and that nothing leaves the file (design section 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.reports import render
from tests.reports.browser import Browser, program
from tests.reports.samples import figures, material, verdict

SHOWN = "[...document.querySelectorAll('details.run')].filter(r => r.checkVisibility()).map(r => r.id)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    executable = program()
    if executable is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    made = Browser(executable, tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    return opened(browser, tmp_path / "report.html")


def opened(browser: Browser, path: Path, found: list[RunVerdict] | None = None) -> Browser:
    path.write_bytes(render("html", figures(found), material(found)).encode("utf-8", "backslashreplace"))
    browser.log.clear()
    browser.requests.clear()
    browser.open(path)
    return browser


def quiet(page: Browser) -> None:
    assert page.log == []
    assert [address for address in page.requests if not address.startswith(("file://", "data:"))] == []
    assert len(page.requests) == 1


def test_a_cell_opens_its_runs(page: Browser) -> None:
    page.run("document.querySelector('a[aria-label^=\"3 runs: wanted refund, got find\"]').click()")
    assert page.run(SHOWN) == ["run-run-0002", "run-run-0008", "run-run-0009"]
    assert page.run("document.getElementById('f-count').value") == "3 of 10 runs shown"
    assert page.run("document.activeElement.textContent").startswith("wanted refund, got find")
    assert page.run("document.querySelectorAll('a[aria-current]').length") == 1
    page.run("document.getElementById('f-clear').click()")
    assert page.run("document.getElementById('f-count').value") == "10 runs"
    quiet(page)


def test_filters(page: Browser) -> None:
    fill = (
        "(id, value) => { const f = document.getElementById(id); f.value = value;"
        " f.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    page.run(f"({fill})('f-text', 'REQUEST 3')")
    assert page.run(SHOWN) == ["run-run-0003"]
    page.run(f"({fill})('f-text', ''); ({fill})('f-owner', 'safety')")
    assert page.run(SHOWN) == ["run-run-0003"]
    page.run(f"({fill})('f-owner', ''); ({fill})('f-state', 'review')")
    assert sorted(page.run(SHOWN)) == ["run-run-0006", "run-run-0007"]
    page.run(f"({fill})('f-state', ''); ({fill})('f-text', 'nothing like it')")
    assert page.run(SHOWN) == []
    quiet(page)


def test_text_of_a_trace_is_text(page: Browser) -> None:
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.run("window.stolen === undefined")
    assert page.run("document.querySelectorAll('img, iframe, object, body script').length") == 1  # our own script
    shown = page.run("document.getElementById('run-run-0002').innerText")
    assert "<script>window.stolen = 1</script>" in shown
    assert "&amp;" in shown
    for escaped in ("\\x1b[2J", "\\x00", "\\ud800", "\\u202eabc"):
        assert escaped in shown
    quiet(page)


def test_timeline_of_a_failure(page: Browser) -> None:
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    items = page.run("[...document.querySelectorAll('#run-run-0003 .events li')].map(li => li.innerText)")
    assert len(items) == 5
    assert "failed timeout" in items[1]
    assert '{"note": "done"}' in items[3]


def test_keyboard_reaches_a_cell_and_its_runs(page: Browser) -> None:
    for _ in range(40):
        page.key("Tab")
        if page.run("!!document.activeElement.dataset.cell"):
            break
    wanted = page.run("document.activeElement.dataset.cell")
    page.key("Enter")
    assert page.run("document.activeElement.tagName") == "SUMMARY"
    assert page.run("document.activeElement.parentElement.id") == wanted


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_sideways_scrolling(browser: Browser, tmp_path: Path, width: int) -> None:
    long = "a_very_long_tool_name_" * 6
    found = [*verdicts_with(long), verdict(90, "find", "refund", request="x" * 3000)]
    page = opened(browser, tmp_path / "report.html", found)
    page.size(width)
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.run("document.documentElement.scrollWidth") <= width
    page.size(1280)


def verdicts_with(name: str) -> list[RunVerdict]:
    return [verdict(i, f"{name}{i % 12}", f"{name}{(i * i) % 12}") for i in range(60)]


def test_printed_page_shows_the_failures(page: Browser) -> None:
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.getElementById('run-run-0003').open")
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert not page.run("document.getElementById('run-run-0003').open")
    assert page.printed().startswith(b"%PDF")


def test_a_link_into_the_page_opens_the_run(page: Browser) -> None:
    page.run("location.hash = 'run-run-0004'")
    page.wait("document.getElementById('run-run-0004').open")
    assert page.run("document.getElementById('run-run-0004').checkVisibility()")


def test_five_thousand_runs(browser: Browser, tmp_path: Path) -> None:
    tools = [f"tool_{i}" for i in range(25)]
    found = [verdict(i, tools[i % 25], tools[(i + (i % 7 == 0)) % 25]) for i in range(5000)]
    page = opened(browser, tmp_path / "report.html", found)
    assert (tmp_path / "report.html").stat().st_size < 12_000_000
    assert page.run("document.querySelectorAll('details.run').length") == 5000
    took = page.run(
        "(() => { const t = performance.now(); document.querySelector('td.o1 a, td.o2 a').click();"
        " document.body.getBoundingClientRect(); return performance.now() - t; })()"
    )
    assert took < 3000
    assert len(page.run(SHOWN)) in (28, 29)
    assert page.run("Math.max(...[...document.querySelectorAll('.matrix td')].map(td => td.offsetHeight))") < 50
    quiet(page)


def test_complete_without_its_script() -> None:
    text = render("html", figures(), material())
    targets = set(re.findall(r'href="#([^"]+)"', text))
    assert targets <= set(re.findall(r'id="([^"]+)"', text))
    assert len(targets) > 5
    assert not re.search(r"(src|href)=\"?(?!#|data:)[a-z]+:", re.sub(r"&#?\w+;", "", text).split("<body>")[0])


def test_no_run_at_all(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path / "report.html", [])
    assert page.run("document.querySelector('h1').innerText") == "shop"
    quiet(page)


def test_a_run_with_two_cells_is_found_from_both() -> None:
    text = render("html", figures([verdict(1, "a", "b", cells=(Cell("a", "b"), Cell("c", "d")))]))
    assert text.count('id="run-run-0001"') == 1
    assert "also here, by a later turn:" in text


def test_trend_over_labels_with_gaps(browser: Browser, tmp_path: Path) -> None:
    found = [
        verdict(i, "refund" if label == "b" else "find", "find", label=label)
        for i, label in enumerate(["a", "a", "b", "c"])
    ]
    page = opened(browser, tmp_path / "report.html", found)
    rows = page.run("[...document.querySelectorAll('.trend tbody tr')].map(r => r.innerText.split('\\t'))")
    assert rows[0][2:] == ["100.0 % (2/2)", "0.0 % (0/1)", "100.0 % (1/1)"]
    assert rows[1][0::2] == ["recall of find", "100.0 % (2/2)", "100.0 % (1/1)"]
    assert rows[1][3] == "n/a (0)"
    assert page.run("document.querySelectorAll('.trend tbody tr')[1].querySelectorAll('polyline').length") == 2
    quiet(page)


def test_no_trend_of_one_day() -> None:
    assert 'id="h-trend"' not in render("html", figures(), material())
    days = [verdict(1, "find", "find"), verdict(90_000, "find", "find")]
    assert "One column per day" in render("html", figures(days))
