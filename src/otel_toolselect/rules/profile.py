"""Matching profiles: how plain values are compared, under a name (`matching: NAME` on a suite, a case or a reference).

A profile chooses the matcher that a bare scalar stands for, and three habits of its source: whether an argument that
is not listed may be given, whether the offered schema is judged beside, and which mode a reference has without one.
Everything else (matchers, nested objects, lists, `optional`) is read as always: a profile is made of the ordinary
matchers. A file in `profiles/` defines one `PLUGIN`, a Profile; packages outside join by entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeAlias, cast
from typing import Literal as Word

from otel_toolselect import registry
from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import Literal
from otel_toolselect.rules._nodes import Node, Scalar, clip
from otel_toolselect.rules.problems import Problems, suggest

PROFILES_PACKAGE = "otel_toolselect.rules.profiles"
Mode: TypeAlias = Word["exact", "ordered", "unordered", "subset", "superset"]
MODES: tuple[Mode, ...] = ("exact", "ordered", "unordered", "subset", "superset")


class Comparer(Protocol):
    """What a bare scalar compiles to: the shape of `matching.Matcher`."""

    @property
    def absent_ok(self) -> bool: ...

    @property
    def describe(self) -> str: ...

    def mismatch(self, value: JSON, scope: Any) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Profile:
    """`closed`: a call of a reference may give no argument that the reference does not list, as for nested objects.

    `schema`: the offered schema is judged beside (see `kinds.schema`). `mode`: of a reference that names none; it is
    `ordered` unless the source says otherwise, as an expectation is never one exact trace unless its author asks (R2).
    """

    name: str
    scalar: Callable[[Scalar], Comparer] = Literal.of
    closed: bool = False
    schema: bool = True
    mode: Mode = "ordered"


JSON_VALUES = Profile("json")


@cache
def profiles() -> Mapping[str, Profile]:
    """Every profile by its name, found by scanning and by entry points."""
    return cast("Mapping[str, Profile]", registry.discover(PROFILES_PACKAGE))


def parse_matching(node: Node, problems: Problems) -> Profile | None:
    """The profile that `matching` names; None after recording a problem."""
    name = problems.text(node, "matching")
    if name is None:
        return None
    found = profiles().get(name)
    if found is None:
        problems.add(node, f"unknown matching profile {clip(name)!r}", suggest(name, profiles()))
    return found
