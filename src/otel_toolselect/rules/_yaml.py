"""YAML text -> nodes with positions, in bounded time and memory.

Built from the parser's events, not from its own composer: scalars keep their text (see `_nodes`), a mapping's keys are
unique texts, and a hostile file meets a limit before it costs anything: size, depth, number of nodes (an alias counts
for all that it stands for, so that a "billion laughs" file stops early). The parser is the pure one of ruamel.yaml,
because its C twin reads YAML 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import re2
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, plain_value
from otel_toolselect.rules.problems import Problems

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 1_000_000
# the parser's work for a tag grows with the square of its length; no tag is of use here, and none is this long
_LONG_TAG = re2.compile(r"(?:^|[\s\[{,])!\S{1000}")
_STR_TAGS = ("!", "!!str", "tag:yaml.org,2002:str")


@dataclass(slots=True)
class _Open:
    """A list or mapping that is not closed yet; `weight` counts its nodes, aliases expanded."""

    line: int
    column: int
    anchor: str | None
    mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)
    keys: dict[str, Scalar] = field(default_factory=dict)
    key: Scalar | None = None
    skip: bool = False
    weight: int = 1


class _Stop(Exception):
    """The file cannot be read any further; the problem is recorded."""


def read_yaml(text: str, problems: Problems) -> Node | None:
    """The one document of a text, None when there is none or when a problem stopped the reading."""
    tag = _LONG_TAG.search(text)
    if tag is not None:
        start = tag.end() - 1001
        line = text.count("\n", 0, start) + 1
        problems.at(line, start - text.rfind("\n", 0, start), "a tag of more than 1,000 characters", "quote the text")
        return None
    try:
        return _Builder(problems).build(_events(text))
    except _Stop:
        return None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        said = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        problems.at(line, column, f"not valid YAML: {clip(str(said), 160)}")
        return None


def _events(text: str) -> Iterator[Any]:
    yield from YAML(typ="safe", pure=True).parse(text)


class _Builder:
    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.documents = 0
        self.root: Node | None = None

    def build(self, events: Iterator[Any]) -> Node | None:
        for event in events:
            line, column = event.start_mark.line + 1, event.start_mark.column + 1
            if isinstance(event, ScalarEvent):
                self._scalar(event, line, column)
            elif isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                self._start(event, line, column)
            elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
                self._end()
            elif isinstance(event, AliasEvent):
                self._alias(event, line, column)
            elif isinstance(event, DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    self._fail(line, column, "a suite file holds one document; a second one begins here")
        return self.root

    def _fail(self, line: int, column: int, message: str, suggestion: str = "") -> None:
        self.problems.at(line, column, message, suggestion)
        raise _Stop

    def _scalar(self, event: Any, line: int, column: int) -> None:
        plain = event.style in (None, "")
        if event.tag is not None and event.tag not in _STR_TAGS:
            self.problems.at(line, column, f"the tag {clip(str(event.tag))} is not read", "take the tag out")
        text = str(event.value)
        keeps_type = plain and event.tag is None
        value = plain_value(text) if keeps_type else text
        self._add(Scalar(value, text, keeps_type, line, column), event.anchor, 1)

    def _start(self, event: Any, line: int, column: int) -> None:
        if len(self.open) >= MAX_DEPTH:
            self._fail(line, column, f"nested deeper than {MAX_DEPTH} levels")
        if event.tag is not None:
            self.problems.at(line, column, f"the tag {clip(str(event.tag))} is not read", "take the tag out")
        mapping = isinstance(event, MappingStartEvent)
        self.open.append(_Open(line, column, event.anchor, mapping))

    def _end(self) -> None:
        done = self.open.pop()
        node: Node
        if done.mapping:
            node = Fields(tuple(done.entries), done.line, done.column)
        else:
            node = Items(tuple(done.items), done.line, done.column)
        self._add(node, done.anchor, done.weight)

    def _alias(self, event: Any, line: int, column: int) -> None:
        known = self.anchors.get(event.anchor)
        if known is None:
            inside = any(o.anchor == event.anchor for o in self.open)
            why = "an alias cannot stand inside what it names" if inside else "no such anchor above"
            self._fail(line, column, f"*{clip(str(event.anchor))}: {why}")
        else:
            self._add(known[0], None, known[1])

    def _add(self, node: Node, anchor: str | None, weight: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = (node, weight)
        if not self.open:
            self.root = node
            return
        top = self.open[-1]
        top.weight += weight
        if top.weight > MAX_NODES:
            self._fail(node.line, node.column, f"more than {MAX_NODES:,} values (aliases count in full)")
        if not top.mapping:
            top.items.append(node)
        elif top.key is None:
            self._key(top, node)
        else:
            if not top.skip:
                top.entries.append((top.key, node))
            top.key, top.skip = None, False

    def _key(self, top: _Open, node: Node) -> None:
        if not isinstance(node, Scalar):
            self._fail(node.line, node.column, "a key must be a text")
            return
        top.key = node
        earlier = top.keys.setdefault(node.text, node)
        if earlier is not node:
            top.skip = True
            self.problems.add(node, f"the key {clip(node.text)!r} stands twice", f"first on line {earlier.line}")
        elif node.text == "<<" and node.plain:
            top.skip = True
            self.problems.add(node, "'<<' is not part of YAML 1.2", "write the keys out, or alias the whole value")
