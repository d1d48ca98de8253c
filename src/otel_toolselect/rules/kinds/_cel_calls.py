"""Which calls an expression can be about: `calls.exists(c, c.name == 'run_sql' && ...)` is about those of run_sql.

Every value that an expression reads is turned into one of CEL's, which costs more than the evaluation. Rules of traffic
are mostly about one tool, and most runs do not call it.
"""

from __future__ import annotations

from collections.abc import Sequence

import re2

_WORD = re2.compile(
    r"""(?s)[rR]?[bB]?(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|//[^\n]*|[A-Za-z_][A-Za-z0-9_]*|&&|\|\||==|!=|<=|>=|[^\s]"""
)
_PICKING = frozenset({"exists", "exists_one", "filter"})
_PLAIN = re2.compile(r"""'[^'\\]+'|"[^"\\]+\"""")


def names_asked(text: str) -> frozenset[str] | None:
    """The names of the calls that can change what an expression gives; None when that may be any call.

    Sound only if each mention of `calls` picks among them by a condition whose first part is a name: a call of another
    name is not picked whatever else holds, as `false && x` is false even where x is an error.
    """
    words = [w for w in _WORD.findall(text) if not w.startswith("//")]
    found: set[str] = set()
    for i, word in enumerate(words):
        if word == "calls" and (i == 0 or words[i - 1] != "."):
            name = _picked(words, i)
            if name is None:
                return None
            found.add(name)
    return frozenset(found)


def _picked(words: Sequence[str], at: int) -> str | None:
    """The name in `calls.exists(c, c.name == NAME && ...)` from `calls` on."""
    shape = words[at + 1 : at + 11]
    if len(shape) < 10:
        return None
    dot, macro, opened, variable, comma, subject, dot2, member, equals, name = shape
    if (dot, opened, comma, dot2, member, equals) != (".", "(", ",", ".", "name", "=="):
        return None
    if macro not in _PICKING or variable != subject or not _PLAIN.fullmatch(name):
        return None
    return name[1:-1] if _conjoined(words[at + 11 :]) else None


def _conjoined(rest: Sequence[str]) -> bool:
    """Whether what follows the name up to the macro's end is nothing, or joined to it by `&&` as a whole."""
    depth = 0
    for i, word in enumerate(rest):
        if word == ")" and depth == 0:
            return i == 0 or rest[0] == "&&"
        if word in ("(", "[", "{"):
            depth += 1
        elif word in (")", "]", "}"):
            depth -= 1
        elif depth == 0 and word in ("||", "?", ","):
            return False
    return False
