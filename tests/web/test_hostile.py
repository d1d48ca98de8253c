"""Texts that want to be more than texts: on no page do they run, load, turn the line around, or fill the page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page

from otel_toolselect import app
from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.spans import Span
from otel_toolselect.store import Store
from otel_toolselect.web.page import sections
from tests.web import world
from tests.web.conftest import Client
from tests.web.test_api import read_paths

MARKUP = '<script>window.hit=1</script><img src=x onerror="window.hit=1"><svg onload="window.hit=1">\'"><b>{{7*7}}</b>'
TURNED = "safe\u202egpj.exe\u2066\u200f\x1b[31m\x00\ud800"
LONG = "many words " * 100_000


@pytest.fixture(scope="module")
def store(store: Store) -> Store:
    """With runs of whose texts some were chosen by somebody who means ill."""
    spans: list[Span] = []
    for i, text in enumerate((MARKUP, TURNED, LONG)):
        for span in world.example_spans()[:5]:
            said = {key: _put(value, text) for key, value in span.attributes.items()}
            spans.append(
                replace(
                    span,
                    trace_id=f"{i:x}{span.trace_id[1:]}",
                    attributes={**said, "gen_ai.agent.name": text[:300], "gen_ai.request.model": text[:300]},
                    resource={**span.resource, "service.name": text[:300]},
                    scope_name=text[:300],
                )
            )
    spans = world.moved(spans, time.time_ns() - world.HOUR_NS)
    store.insert(spans, [])
    judged = Panel((), (world.rules(),)).judge(app.runs_of(spans, []))
    store.write_runs(judged.runs)
    store.add_judged(judged.verdicts, judged.decisions)
    return store


def _put(value: object, text: str) -> object:
    return text if isinstance(value, str) and len(value) > 60 and not value.startswith(("[", "{")) else value


def paths() -> list[str]:
    return [page.path for section in sections() for page in section.pages if "{" not in page.path]


@pytest.fixture
def quiet(page: Page) -> Iterator[Page]:
    yield page
    assert page.evaluate("window.hit") is None


@pytest.mark.parametrize("path", paths())
def test_no_page_is_harmed(quiet: Page, client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (200, 400, 404), "some want more than a path"
    assert len(answer.content) < 2_000_000
    for sign in ("<script>window", "<img src=x", "<svg onload", "\u202e", "\u2066", "\x1b", "\x00"):
        assert sign not in answer.text
    assert ">49<" not in answer.text
    if answer.status_code == 200:
        quiet.goto(path)
        quiet.wait_for_load_state()


def test_the_api_answers(client: Client) -> None:
    asked = [path for path in read_paths(client) if "{" not in path]
    assert len(asked) > 3
    for path in asked:
        answer = client.get(path)
        assert answer.status_code in (200, 400), (path, answer.text[:300])
        assert "\x00" not in answer.text
