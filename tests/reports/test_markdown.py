"""Markdown: the golden file, and texts from traces kept from doing anything.

`TOOLSELECT_REGENERATE=1 pytest tests/reports/test_markdown.py` writes the golden file anew; read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from otel_toolselect.reports import render
from otel_toolselect.reports._text import code, code_cell
from tests.reports.samples import HOSTILE, figures, material, verdict

GOLDEN = Path(__file__).with_name("golden") / "report.md"


def test_golden() -> None:
    text = render("markdown", figures(), material())
    if os.environ.get("TOOLSELECT_REGENERATE"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_nothing_of_a_trace_is_alive() -> None:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(render("markdown", figures(), material()))
    for alive in ("<script", "<img", 'href="http'):
        assert alive not in html
    assert "&lt;script&gt;window.stolen" in html


def test_tables_keep_their_columns() -> None:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(render("markdown", figures(), material()))
    for body in html.split("<table>")[1:]:
        rows = [
            row.count("<t")
            for row in body.split("</table>")[0].replace("<thead", "").replace("<tbody", "").split("<tr>")[1:]
        ]
        assert len(set(rows)) == 1, body[:300]


@pytest.mark.parametrize("text", ["a", "", "`", "``a`", "a|b", HOSTILE, "a\n\nb", " "])
def test_code_spans_hold(text: str) -> None:
    html = MarkdownIt().render(f"x {code(text)} y")
    assert html.count("<code>") == 1
    assert html.startswith("<p>x <code>")
    assert html.endswith("</code> y</p>\n")
    assert "\n" not in code_cell(text)


def test_fits_a_comment() -> None:
    many = [verdict(i, "find", "refund", request="x" * 190) for i in range(2000)]
    text = render("markdown", figures(many), material(many))
    assert 50_000 < len(text) < 65_536
    assert "more failures: see the full report" in text
    assert len(text.split("#### ")) > 30
