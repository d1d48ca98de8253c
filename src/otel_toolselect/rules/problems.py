"""All mistakes of one file, collected while it is read, each with position and way out (house habit 6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from rapidfuzz import fuzz, process

from otel_toolselect.errors import Problem
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of

MAX_PROBLEMS = 1_000
_LISTED = 14  # a list of known words up to this long is worth printing when nothing is close


def closest(word: str, options: Iterable[str], *, cutoff: float = 65) -> str | None:
    """The option that the author most likely meant, None when nothing is near."""
    found = process.extractOne(word.lower(), sorted(options), scorer=fuzz.ratio, score_cutoff=cutoff)
    return None if found is None else str(found[0])


def suggest(word: str, options: Collection[str]) -> str:
    near = closest(word, options)
    if near is not None:
        return f"did you mean {near!r}?"
    return "known: " + ", ".join(sorted(options)) if 0 < len(options) <= _LISTED else ""


class Problems:
    """Collects; every reading method returns None (or an empty list) after it has recorded what is wrong."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found: list[Problem] = []

    def add(self, node: Node, message: str, suggestion: str = "") -> None:
        self.at(node.line, node.column, message, suggestion)

    def at(self, line: int, column: int, message: str, suggestion: str = "") -> None:
        if len(self.found) >= MAX_PROBLEMS:
            return  # a hostile file has as many mistakes as it has values; nobody reads them all
        self.found.append(Problem(self.path, line, column, message, suggestion))

    def fields(
        self,
        node: Node,
        what: str,
        known: Collection[str],
        *,
        planned: Collection[str] = (),
        synonyms: Mapping[str, str] | None = None,
    ) -> dict[str, tuple[Scalar, Node]] | None:
        """The entries of a mapping by key; unknown keys are problems, and so are keys of a later version."""
        if not isinstance(node, Fields):
            self.add(node, f"{what} must be a mapping, not {kind_of(node)}")
            return None
        found: dict[str, tuple[Scalar, Node]] = {}
        for key, value in node.entries:
            name = key.text
            if name in known:
                found[name] = (key, value)
            elif name in planned:
                self.add(key, f"{name!r} in {what} is not supported yet", "take it out, or use a later version")
            else:
                meant = (synonyms or {}).get(name)
                hint = f"did you mean {meant!r}?" if meant else suggest(name, known)
                self.add(key, f"unknown key {clip(name)!r} in {what}", hint)
        return found

    def text(self, node: Node, what: str) -> str | None:
        """A scalar's text as written; an empty one is a problem."""
        if isinstance(node, Scalar) and node.text and not (node.plain and node.value is None):
            return node.text
        self.add(node, f"{what} must be a text, not {kind_of(node)}")
        return None

    def items(self, node: Node, what: str, *, example: str = "") -> tuple[Node, ...]:
        if isinstance(node, Items):
            return node.items
        hint = f"write a list: {example}" if example else ""
        if not hint and isinstance(node, Scalar) and node.text:
            hint = f"write a list: [{clip(node.text, 40)}]"
        self.add(node, f"{what} must be a list, not {kind_of(node)}", hint)
        return ()

    def texts(self, node: Node, what: str) -> list[tuple[str, Node]]:
        found = ((self.text(item, f"an entry of {what}"), item) for item in self.items(node, what))
        return [(text, item) for text, item in found if text is not None]

    def choice(self, node: Node, what: str, options: Collection[str]) -> str | None:
        text = self.text(node, what)
        if text is None or text in options:
            return text
        self.add(node, f"{what} cannot be {clip(text)!r}", suggest(text, options))
        return None

    def number(self, node: Node, what: str) -> int | float | None:
        """A number in any spelling: here the vocabulary wants one, so nothing can be mistaken."""
        if isinstance(node, Scalar) and not isinstance(node.value, bool):
            if isinstance(node.value, (int, float)):
                return node.value
            try:
                value = float(node.text) if node.plain and len(node.text) <= 400 else None
            except ValueError:
                value = None
            if value is not None and value - value == 0:
                return int(value) if value.is_integer() else value
        self.add(node, f"{what} must be a number, not {kind_of(node)}")
        return None

    def whole(self, node: Node, what: str, *, least: int) -> int | None:
        value = self.number(node, what)
        if value is None or (isinstance(value, int) and value >= least):
            return None if value is None else int(value)
        self.add(node, f"{what} must be a whole number from {least}, not {value}")
        return None

    def boolean(self, node: Node, what: str) -> bool | None:
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        self.add(node, f"{what} must be true or false, not {kind_of(node)}")
        return None
