"""One MCP tool under seven spellings, and a server whose name is a prefix of another's (bug 18)."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect.judge import judge_run
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import parse_suite
from tests.dialects.captures import read_file
from tests.rules.suites import problems_of

SUITE = """
suite: scraping
policy:
  servers: {web: [search, fetch, scraper_fetch], web_scraper: [search]}
cases:
  - id: scrape
    prompt: Find mugs on the shop's site.
    expect: {class: required, first: [web_scraper/search], args: {web_scraper/search: {q: mugs}}}
"""
RUNS = {r.calls[0].call_id: r for r in read_file(Path(__file__).parents[2] / "dialects/bugs/18-mcp-name-prefixes.json")}


def scrape(run: Run) -> RunVerdict:
    suite = parse_suite(SUITE, path="suite.yaml")
    return judge_run(run, suite.cases[0], suite)


@pytest.mark.parametrize("call_id", ["c180", "c181", "c182", "c183", "c184", None])
def test_every_spelling_is_the_tool(call_id: str | None) -> None:
    found = scrape(RUNS[call_id])
    assert found.layers["selection"].status == "pass"
    assert found.first_action == "web_scraper/search"


def test_a_bare_name_of_two_servers_is_ambiguous() -> None:
    found = scrape(RUNS["c186"])
    assert found.layers["selection"].status == "fail"
    (finding,) = [f for f in found.findings if f.check == "ambiguous"]
    assert finding.explanation == "ambiguous tool name: search may be web/search or web_scraper/search"


def test_the_server_is_not_guessed_from_a_prefix() -> None:
    assert scrape(RUNS["c187"]).first_action == "web/scraper_fetch"


def test_a_tool_that_no_server_has_is_a_mistake() -> None:
    (problem,) = problems_of(SUITE.replace("first: [web_scraper/search]", "first: [web_scraper/serch]"))
    assert "does not name the tool 'web_scraper/serch'" in problem
    assert "web_scraper/search" in problem


@pytest.mark.parametrize("servers", ["[web]", "{web: search}", "{web: [{}]}"])
def test_servers_of_another_shape(servers: str) -> None:
    text = SUITE.replace("{web: [search, fetch, scraper_fetch], web_scraper: [search]}", servers)
    assert any("server" in p for p in problems_of(text))
