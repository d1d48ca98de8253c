"""Texts made comparable: one Unicode form, one case, single spaces (the `text` matcher, phrases of `clarify`)."""

from __future__ import annotations

import unicodedata
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normal(text: str, *, form: Form = "NFKC", fold: bool = True, spaces: bool = True) -> str:
    """`form` is a Unicode normal form; folding is Unicode case folding; spaces are collapsed and trimmed."""
    if fold and spaces and text.isascii():
        return " ".join(text.lower().split())  # what the rest comes to for ASCII, at a fraction of the time
    done = text
    if fold:
        # folding may undo the normal form, so it comes first and is followed by it
        done = unicodedata.normalize(form, done).casefold()
    done = unicodedata.normalize(form, done)
    return " ".join(done.split()) if spaces else done


def has_phrase(text: str, phrase: str) -> bool:
    """Whether a phrase begins at the start of a word of a text; both are normal already.

    Endings are free, so that "order" finds "orders". Scripts without case (and mostly without spaces) have no such
    start.
    """
    cased = phrase[:1].lower() != phrase[:1].upper()
    at = text.find(phrase)
    while at >= 0:
        if at == 0 or not cased or not text[at - 1].isalnum():
            return True
        at = text.find(phrase, at + 1)
    return False
