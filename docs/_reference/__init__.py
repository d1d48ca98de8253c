"""The part of the reference that the program says itself. A line `<!-- generated: NAME -->` of a page is replaced,
when the site is built, by what the function of that name returns; nothing generated is kept in the repository.

    python -m docs._reference NAME        prints one
"""

from __future__ import annotations

import re
from collections.abc import Callable

from docs._reference import commands, outputs, plugins, settings, stored, vocabulary

PARTS: dict[str, Callable[[], str]] = {
    "settings": settings.page,
    "commands": commands.page,
    "expectations": vocabulary.expectations,
    "matchers": vocabulary.matchers,
    "files": vocabulary.files,
    "alerts": vocabulary.alerts,
    "signals": vocabulary.signals,
    "outputs": outputs.page,
    "tables": stored.tables,
    "metrics": stored.metrics,
    "dialects": plugins.dialects,
    "plugins": plugins.page,
    "errors": plugins.errors,
}
MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """A page with its generated parts. Raises KeyError for a part that there is not."""
    return MARK.sub(lambda match: PARTS[match[1]](), text)
