"""GitHub annotations: one command a line, at the line of the case, and no way for a trace to write its own."""

from __future__ import annotations

import re

from otel_toolselect.reports import render
from otel_toolselect.reports.github import command
from tests.reports.samples import figures, material

LINE = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)*)::([^\r\n]*)")


def lines() -> list[tuple[str, dict[str, str], str]]:
    found = []
    for line in render("github", figures(), material()).splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        properties = dict(part.split("=", 1) for part in match[2].split(",") if part)
        found.append((match[1], properties, match[3]))
    return found


def test_worst_first_then_reviews_then_the_sum() -> None:
    got = [(level, properties["title"]) for level, properties, _ in lines()]
    assert got[0] == ("error", "case-0003%3A premature_action")
    assert ("error", "twice%3A intent_misread (1 of 2 runs)") in got
    assert [level for level, _ in got] == ["error"] * 4 + ["warning"] * 2 + ["notice"]


def test_place_of_the_case() -> None:
    _, properties, message = lines()[0]
    assert properties["file"] == "suites/shop.yaml"
    assert properties["line"] == "13"
    assert message.startswith("wanted ask_followup, got refund%0Aselection: ")
    bare = render("github", figures())
    assert "file=" not in bare
    assert "line=" not in bare


def test_a_trace_cannot_write_a_command() -> None:
    text = render("github", figures(), material())
    assert all(line.startswith("::") for line in text.splitlines())
    assert "%250A @everyone" in text
    assert "\x1b" not in text


def test_escapes() -> None:
    assert command("error", "50 %\nb", title="a:b,c%") == "::error title=a%3Ab%2Cc%25::50 %25%0Ab"
    assert render("github", figures([])).startswith("::notice title=toolselect shop::0 runs, 0 judged")
