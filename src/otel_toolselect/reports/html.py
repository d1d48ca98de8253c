"""One self-contained HTML file: heat map, bars with intervals, every failure with its timeline (design section 11).

Nothing is loaded from anywhere and a content security policy says so to the browser: the one style and the one script
are named by their hashes, so that a script that a trace smuggled past the escaping would still not run. The page is
complete without its script (cells are links, runs are `details`); the script adds the filter. ADR 0007 says why the
charts are tables and inline SVG.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from otel_toolselect.model.figures import Report
from otel_toolselect.reports._html_view import page
from otel_toolselect.reports._material import NOTHING, Material

FOLDER = Path(__file__).with_name("_templates")


class HtmlWriter:
    """Writes one page; jinja2 escapes every value, the only exceptions are our own style and script."""

    name = "html"

    def render(self, report: Report, *, colour: bool = False, width: int = 0) -> str:
        return self.render_with(report, NOTHING)

    def render_with(self, report: Report, material: Material, *, colour: bool = False, width: int = 0) -> str:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup

        style, script = ((FOLDER / name).read_text("utf-8") for name in ("report.css", "report.js"))
        environment = Environment(
            loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        return (
            environment.get_template("report.html.j2").render(
                v=page(report, material),
                style=Markup(style),  # noqa: S704 - our own file
                script=Markup(script),  # noqa: S704 - our own file
                style_hash=_hash(style),
                script_hash=_hash(script),
            )
            + "\n"
        )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


PLUGIN = HtmlWriter()
