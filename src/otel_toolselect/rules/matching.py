"""Expected argument values (R25, R26): literals, matchers, nested objects and lists of them.

A mapping with one matcher's name as key, and beside it only options of that matcher or `optional`, is that matcher:
`{one_of: [a, b]}`, `{text: Paris, optional: true}`. Any other mapping is a nested object: its keys are compared one
by one and no other key may be there, as JSON equality says. `{literal: {range: [1, 2]}}` means the object itself.

A file in `match/` defines one `PLUGIN`, a MatcherKind. Matching is pure: the scope gives the call and its run, for
matchers that need an earlier result or the run's date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from otel_toolselect import registry
from otel_toolselect.model.quick import quick
from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import Literal, brief
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.problems import closest
from otel_toolselect.rules.view import CallView, RunView

MATCH_PACKAGE = "otel_toolselect.rules.match"
_SLIP = 80  # how near a lone key must be to a matcher's name to be taken for a slip


@quick
@dataclass(frozen=True, slots=True)
class Scope:
    """Where a value stands."""

    call: CallView
    view: RunView


class Matcher(Protocol):
    """Compiled. `absent_ok`: satisfied when the argument is not there. `describe` completes "expected ..."."""

    @property
    def absent_ok(self) -> bool: ...

    @property
    def describe(self) -> str: ...

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        """None when the value fits, else why not, in words that complete "NAME: ..."."""
        ...


class MatcherKind(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def options(self) -> frozenset[str]:
        """Keys that may stand beside the matcher's own."""
        ...

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        """Compiles; None after recording a problem."""
        ...


@dataclass(frozen=True, slots=True)
class Expected:
    """One expected argument: a matcher, and whether the argument may be left out."""

    name: str
    matcher: Matcher
    optional: bool

    def mismatch(self, args: Mapping[str, Any], scope: Scope) -> str | None:
        if self.name in args:
            return self.matcher.mismatch(args[self.name], scope)
        if self.optional or self.matcher.absent_ok:
            return None
        return f"is missing, expected {self.matcher.describe}"


@dataclass(frozen=True, slots=True)
class Nested:
    """An object key by key; keys that are not listed may not be there."""

    members: tuple[Expected, ...]
    names: frozenset[str]
    absent_ok: bool = False
    describe: str = "an object"

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if not isinstance(value, dict):
            return f"expected an object, got {brief(value)}"
        for member in self.members:
            why = member.mismatch(value, scope)
            if why is not None:
                return f"{member.name}: {why}"
        extra = next((k for k in value if k not in self.names), None)
        return None if extra is None else f"{extra}: not expected, got {brief(value[extra])}"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list position by position."""

    members: tuple[Matcher, ...]
    absent_ok: bool = False
    describe: str = "a list"

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if not isinstance(value, list) or len(value) != len(self.members):
            return f"expected a list of {len(self.members)}, got {brief(value)}"
        for i, (member, item) in enumerate(zip(self.members, value, strict=True)):
            why = member.mismatch(item, scope)
            if why is not None:
                return f"[{i}]: {why}"
        return None


@cache
def matchers() -> Mapping[str, MatcherKind]:
    """Every matcher by its key, found by scanning and by entry points."""
    return cast("Mapping[str, MatcherKind]", registry.discover(MATCH_PACKAGE))


def parse_expected(name: str, node: Node, draft: Draft) -> Expected | None:
    """One named expectation; None after recording a problem."""
    optional = False
    if isinstance(node, Fields) and node.get("optional") is not None:
        matcher_key = _matcher_key(node, draft)
        flag = node.get("optional")
        if flag is not None and (matcher_key is not None or len(node.entries) == 1):
            optional = bool(draft.problems.boolean(flag, "optional"))
            if matcher_key is None:
                any_value = matchers()["any"].parse(Scalar(True, "true", True, node.line, node.column), {}, draft)
                return None if any_value is None else Expected(name, any_value, optional)
    matcher = parse_value(node, draft)
    return None if matcher is None else Expected(name, matcher, optional)


def parse_value(node: Node, draft: Draft) -> Matcher | None:
    """A literal, a matcher, or a nested object or list that holds matchers."""
    if isinstance(node, Scalar):
        return draft.profile.scalar(node)
    if isinstance(node, Items):
        parts = [parse_value(item, draft) for item in node.items]
        whole = [p for p in parts if p is not None]
        if len(whole) < len(parts):
            return None
        plain = [p.value for p in whole if isinstance(p, Literal) and p.json_only]
        return _collapsed(plain) if len(plain) == len(whole) else ListOf(tuple(whole))
    key = _matcher_key(node, draft)
    if key is not None:
        return _matcher(key, node, draft)
    if _slipped(node, draft):
        return None
    members = [parse_expected(k.text, v, draft) for k, v in node.entries]
    known = [m for m in members if m is not None]
    if len(known) < len(members):
        return None
    plain_members = {
        m.name: m.matcher.value
        for m in known
        if not m.optional and isinstance(m.matcher, Literal) and m.matcher.json_only
    }
    if len(plain_members) == len(known):
        return _collapsed(plain_members)
    return Nested(tuple(known), frozenset(m.name for m in known))


def _collapsed(value: JSON) -> Literal:
    """A list or object of nothing but literals is one literal: compared at once, explained as a whole."""
    return Literal(value, brief(value))


def _matcher_key(node: Fields, draft: Draft) -> str | None:
    """The matcher's name when this mapping is a matcher; None when it is a nested object."""
    known = matchers()
    names = [k.text for k, _ in node.entries]
    for candidate in [n for n in names if n in known]:
        options = known[candidate].options
        if all(n == candidate or n == "optional" or n in options for n in names):
            return candidate
    return None


def _matcher(key: str, node: Fields, draft: Draft) -> Matcher | None:
    options = {k.text: v for k, v in node.entries if k.text not in (key, "optional")}
    value = node.get(key)
    return None if value is None else matchers()[key].parse(value, options, draft)


def _slipped(node: Fields, draft: Draft) -> bool:
    """A lone key (or one beside `optional`) that is nearly a matcher's name is taken for a slip, and reported."""
    others = [k for k, _ in node.entries if k.text != "optional"]
    known = set(matchers())
    if len(others) != 1 or others[0].text in known:
        return False
    near = closest(others[0].text, known, cutoff=_SLIP)
    if near is None:
        return False
    draft.problems.add(
        others[0],
        f"unknown matcher {clip(others[0].text)!r}",
        f"did you mean {near!r}? write {{literal: {{...}}}} if the object itself is meant",
    )
    return True
