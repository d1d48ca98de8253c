"""What a page is: paths, view functions, and what these answer. How to add one: `web.pages`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from otel_toolselect.receive.access import Scope
from otel_toolselect.registry import discover

if TYPE_CHECKING:
    from otel_toolselect.web.call import Call


@dataclass(frozen=True, slots=True)
class Show:
    """A template and what it is given. `title`: of the window, before the name of the program."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Go:
    """On to another page after something was done; `said` is shown there once. `to`: a path of `Call.link` and such."""

    to: str
    said: str = ""


Answer: TypeAlias = Show | Go
View: TypeAlias = Callable[["Call"], Answer]
"""Called in a thread, of which there are few. Errors of `errors` become error pages; see `web.problems`."""


@dataclass(frozen=True, slots=True)
class Page:
    """Answers GET. `path` may hold {names}, which are in `Call.params`."""

    path: str
    view: View
    scope: Scope = "read"


@dataclass(frozen=True, slots=True)
class Action:
    """Answers POST of a form that holds the token of `Call.csrf` (macro `form_token`)."""

    path: str
    view: View
    scope: Scope


@dataclass(frozen=True, slots=True)
class Section:
    """Pages that belong together, with one place in the navigation: the first page. `order`: from the left; `title` "":
    it has no place there. `scope`: who finds it there.
    """

    name: str
    title: str
    pages: tuple[Page, ...]
    actions: tuple[Action, ...] = ()
    order: int = 100
    scope: Scope = "read"


PACKAGE = "otel_toolselect.web.pages"


def sections() -> tuple[Section, ...]:
    """All sections there are, in the order of the navigation."""
    found: dict[str, Section] = discover(PACKAGE)
    return tuple(sorted(found.values(), key=lambda section: (section.order, section.name)))
