"""The statements of our own migrations, read strictly, so that a cluster's schema can be made of the same files.

This is no SQL parser: it knows the few forms that the files use, and refuses every other one with the file and the
statement. Whether a text is right is for ClickHouse to say; here it is only taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from otel_toolselect.errors import SchemaError

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_QUOTES = "'`\""
_OPEN, _CLOSE = "([{", ")]}"
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"`([^`]+)`|([A-Za-z_]\w*)")
# in the order in which ClickHouse writes and reads them
_OF_COLUMN = ("DEFAULT", "COMMENT", "CODEC", "SETTINGS")
_OF_TABLE = ("ENGINE", "PARTITION BY", "ORDER BY", "TTL", "SETTINGS")
Named: TypeAlias = Literal["INDEX", "PROJECTION"]


@dataclass(frozen=True, slots=True)
class Column:
    """`parts`: what follows the type, by its word (DEFAULT, COMMENT, CODEC, SETTINGS), without the word."""

    name: str
    type: str
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def quoted(self) -> str:
        return f"`{self.name}`" if "." in self.name else self.name

    def text(self, *kept: str) -> str:
        """The definition with these parts, or all of them."""
        shown = [f"{word}{_glue(word)}{self.parts[word]}" for word in kept or _OF_COLUMN if word in self.parts]
        return " ".join([self.quoted, self.type, *shown])


@dataclass(frozen=True, slots=True)
class CreateTable:
    """`named`: indices by name, with their whole text. `tail`: ENGINE, ORDER BY and so on, without the word."""

    table: str
    columns: tuple[Column, ...]
    named: Mapping[str, str]
    tail: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CreateView:
    """`to`: the table that a materialized view fills. `before`: what stands before the name."""

    view: str
    before: str
    body: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class DropView:
    view: str


@dataclass(frozen=True, slots=True)
class InsertSelect:
    """Moves data from tables of ours to others; says nothing about the schema."""

    table: str


@dataclass(frozen=True, slots=True)
class Change:
    """One part of an ALTER: the verb in capitals (ADD COLUMN, ...), and what follows without IF [NOT] EXISTS."""

    verb: str
    text: str


@dataclass(frozen=True, slots=True)
class Alter:
    """`rest`: everything behind the table's name, as it stands in the file."""

    table: str
    changes: tuple[Change, ...]
    rest: str


Statement: TypeAlias = CreateTable | CreateView | DropView | InsertSelect | Alter
SCHEMA_CHANGES = frozenset({"ADD COLUMN", "MODIFY COLUMN", "DROP COLUMN"})
"""Verbs after which a table has other columns."""
_VERBS = (
    "ADD COLUMN", "MODIFY COLUMN", "DROP COLUMN", "ADD INDEX", "DROP INDEX", "ADD PROJECTION", "DROP PROJECTION",
    "MODIFY SETTING", "MODIFY TTL", "REMOVE TTL", "MATERIALIZE COLUMN", "MATERIALIZE INDEX", "MATERIALIZE PROJECTION",
    "UPDATE",
)  # fmt: skip
_LISTING = ("MODIFY SETTING", "UPDATE")  # verbs that a list with commas may follow


def read(text: str, where: str) -> Statement:
    """One statement. `where`: file and number, for the `SchemaError` that names what is not known."""
    bare = _COMMENT.sub("", text).strip()
    for pattern, reader in _FORMS:
        found = pattern.match(bare)
        if found:
            return reader(found, bare[found.end() :].strip(), where)
    raise SchemaError(where, bare, "a form of statement that is not known here")


def names(text: str) -> list[str]:
    """The columns that an expression names, functions left out."""
    return [word[0] for word in _WORD.finditer(text) if not text[word.end() :].lstrip().startswith("(")]


def _create_table(found: re.Match[str], rest: str, where: str) -> CreateTable:
    end = _closing(rest, where)
    columns: list[Column] = []
    named: dict[str, str] = {}
    for item in _split(rest[1:end], ","):
        word = _WORD.match(item)
        if word and word[0] in ("INDEX", "PROJECTION"):
            named[_first_name(item[word.end() :], where)] = item
        else:
            columns += columns_of(item, where)
    tail = _parts(rest[end + 1 :], _OF_TABLE, where)
    if tail.pop("", "").strip() or not {"ENGINE", "ORDER BY"} <= tail.keys():
        raise SchemaError(where, found[0] + rest, "no ENGINE = and ORDER BY behind the columns")
    tail["ENGINE"] = tail["ENGINE"].removeprefix("=").strip()
    return CreateTable(found["name"], tuple(columns), named, tail)


def columns_of(item: str, where: str) -> list[Column]:
    """A column's definition; a Nested one is several, as in ClickHouse."""
    item = item.strip()
    start = _NAME.match(item)
    if start is None:
        raise SchemaError(where, item, "no name where a column should be")
    name = start[1] or start[2]
    parts = _parts(item[start.end() :], _OF_COLUMN, where)
    kind = parts.pop("").strip()
    if not kind:
        raise SchemaError(where, item, "a column without a type")
    nested = re.fullmatch(r"Nested\s*\((.*)\)", kind, re.DOTALL)
    if nested is None:
        return [Column(name, _flat(kind), parts)]
    inner = [one for part in _split(nested[1], ",") for one in columns_of(part, where)]
    return [Column(f"{name}.{one.name}", f"Array({one.type})", parts) for one in inner]


def _create_view(found: re.Match[str], rest: str, where: str) -> CreateView:
    target = re.match(r"TO\s+(\w+)\s+", rest)
    body = rest[target.end() :] if target else rest
    if not re.match(r"AS\s+SELECT\b", body) or bool(target) != ("MATERIALIZED" in found["before"]):
        raise SchemaError(where, found[0] + rest, "a view that is not AS SELECT, or a materialized one without TO")
    return CreateView(found["name"], " ".join(found["before"].split()), body, target[1] if target else None)


def _drop_view(found: re.Match[str], rest: str, where: str) -> DropView:
    if rest:
        raise SchemaError(where, found[0] + rest, "more than the name of a view")
    return DropView(found["name"])


def _insert(found: re.Match[str], rest: str, where: str) -> InsertSelect:
    if not re.match(r"(\([^)]*\)\s*)?SELECT\b", rest):
        raise SchemaError(where, found[0] + rest, "an INSERT that is not of a SELECT")
    return InsertSelect(found["name"])


def _alter(found: re.Match[str], rest: str, where: str) -> Alter:
    text = re.sub(r"\s+SETTINGS\s+(mutations_sync|alter_sync)\s*=\s*\d+\s*$", "", rest)
    changes: list[Change] = []
    for part in _split(text, ","):
        verb = next((verb for verb in _VERBS if re.match(verb.replace(" ", r"\s+") + r"\b", part)), None)
        if verb is not None:
            what = re.sub(verb.replace(" ", r"\s+") + r"\s*(IF\s+(NOT\s+)?EXISTS\s+)?", "", part, count=1)
            changes.append(Change(verb, what))
        elif changes and changes[-1].verb in _LISTING:
            changes[-1] = Change(changes[-1].verb, f"{changes[-1].text}, {part}")
        else:
            raise SchemaError(where, part, f"a change that is not one of {', '.join(_VERBS)}")
    return Alter(found["name"], tuple(changes), rest)


_FORMS = (
    (re.compile(r"CREATE\s+TABLE\s+IF\s+NOT\s+EXISTS\s+(?P<name>\w+)\s*(?=\()"), _create_table),
    (
        re.compile(
            r"(?P<before>CREATE\s+(OR\s+REPLACE\s+VIEW|VIEW\s+IF\s+NOT\s+EXISTS|MATERIALIZED\s+VIEW\s+IF\s+NOT\s+EXISTS))"
            r"\s+(?P<name>\w+)\s*"
        ),
        _create_view,
    ),
    (re.compile(r"DROP\s+VIEW\s+IF\s+EXISTS\s+(?P<name>\w+)\s*"), _drop_view),
    (re.compile(r"INSERT\s+INTO\s+(?P<name>\w+)\s*"), _insert),
    (re.compile(r"ALTER\s+TABLE\s+(?P<name>\w+)\s*"), _alter),
)


def literal(text: str) -> str:
    """A text as ClickHouse writes it: for what cannot be bound as a parameter."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def settings(text: str) -> dict[str, str]:
    """`a = 1, b = 2` as a mapping."""
    return {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in _split(text, ","))}


def _first_name(text: str, where: str) -> str:
    found = _NAME.match(text.strip())
    if found is None:
        raise SchemaError(where, text, "no name where one should be")
    return found[1] or found[2]


def _parts(text: str, words: tuple[str, ...], where: str) -> dict[str, str]:
    """The text before the first of these words at the top level ("": that), and what follows each of them."""
    found: dict[str, str] = {}
    word, start = "", 0
    for position, level in _levels(text, where):
        if level or (position and (text[position - 1].isalnum() or text[position - 1] == "_")):
            continue
        at = next((w for w in words if re.match(w.replace(" ", r"\s+") + r"\b", text[position:])), None)
        if at is not None:
            found[word] = _flat(text[start:position])
            word, start = at, position + len(re.match(at.replace(" ", r"\s+"), text[position:])[0])  # type: ignore[index]
    found[word] = _flat(text[start:])
    return found


def _split(text: str, separator: str) -> list[str]:
    parts, start = [], 0
    for position, level in _levels(text, ""):
        if level == 0 and text[position] == separator:
            parts.append(text[start:position].strip())
            start = position + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def _closing(text: str, where: str) -> int:
    """Where the bracket closes that the text begins with."""
    for position, level in _levels(text, where):
        if level == 1 and text[position] in _CLOSE:
            return position
    raise SchemaError(where, text, "a bracket that is not closed")


def _levels(text: str, where: str) -> Iterator[tuple[int, int]]:
    """Each character outside quotes, with the number of brackets around it; a bracket is inside itself."""
    level, quote, escaped = 0, "", False
    for position, char in enumerate(text):
        if quote:
            if not escaped and char == quote:
                quote = ""
            escaped = char == "\\" and not escaped
        elif char in _QUOTES:
            quote = char
        elif char in _OPEN:
            level += 1
            yield position, level
        elif char in _CLOSE:
            yield position, level
            level -= 1
        else:
            yield position, level
    if level or quote:
        raise SchemaError(where, text, "a bracket or quote that is not closed")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _glue(word: str) -> str:
    return "" if word == "CODEC" else " "
