"""The site: `make docs`. Sphinx reads Markdown by MyST; the theme needs neither fonts nor scripts from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from docs._reference import filled  # noqa: E402

from otel_toolselect import __version__  # noqa: E402

project = "toolselect"
author = "the authors of otel-toolselect"
release = __version__
extensions = ["myst_parser"]
exclude_patterns = ["_reference"]
nitpicky = True
myst_heading_anchors = 4
# console blocks show output of ours, with `...` and colours of no language
highlight_language = "text"

html_theme = "furo"
html_title = f"toolselect {release}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
smartquotes = False  # "" is an empty text, not a quotation


def setup(app: Any) -> None:
    app.connect("source-read", _generate)
    app.connect("doctree-read", _to_the_repository)


def _generate(app: Any, docname: str, source: list[str]) -> None:
    source[0] = filled(source[0])


def _to_the_repository(app: Any, doctree: nodes.document) -> None:
    """A link to a folder or a page of the repository that is not of the site is shown as the path that it is."""
    page = DOCS / app.env.docname
    for node in list(doctree.findall(pending_xref)):
        target = (page.parent / str(node.get("reftarget", "")).partition("#")[0]).resolve()
        target = next((found for found in (target, target.with_suffix(".md")) if found.exists()), target)
        if target.exists() and not target.is_relative_to(DOCS):
            path = str(target.relative_to(ROOT))
            shown = [] if node.astext() == path else [nodes.Text(" ("), nodes.literal(path, path), nodes.Text(")")]
            node.replace_self(nodes.inline("", "", *node.children, *shown))
