"""Whole lists of messages. What a list repeats of earlier lists is not read again.

Each model call carries the conversation so far: its n-th request repeats n - 1 of them, and all calls of a service
begin with the same instructions. Reading them in full takes a time that grows with the square of a conversation's
length. So a JSON text of a list of objects is cut where its elements seem to begin, and what an element was read as is
remembered by the element's own text.

The cuts are guesses (the same letters may stand inside an argument), and this is why a wrong one does no harm: the
pieces, joined by commas within brackets, are the text again, so if each piece is JSON by itself, then by JSON's grammar
the text is a list of exactly these elements. If one is not, the text is read as a whole.
"""

from __future__ import annotations

import re
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._conventional import conventional
from otel_toolselect.dialects._messages import message, names_its_role
from otel_toolselect.dialects._parsing import MAX_DEPTH, parse_json
from otel_toolselect.dialects._texts import Texts
from otel_toolselect.model.observations import Message, TextPart


def messages(value: Any, *, default_role: str = "user") -> tuple[Message, ...] | None:
    """All messages of a value; None when it holds none that can be read. A bare text is one message."""
    if value is None:
        return None
    if isinstance(value, str) and value.startswith('[{"role"') and value.endswith("}]"):
        found = _in_pieces(value, default_role)
        if found:
            return found
    return _whole(value, default_role)


def _whole(value: Any, default_role: str) -> tuple[Message, ...] | None:
    decoded = coerce.structure(value)
    if decoded is None:
        if isinstance(value, str) and value.strip() and value.strip() not in coerce.REDACTED:
            text = parse_json(value)
            return (Message(default_role, (TextPart(text if isinstance(text, str) else value),)),)
        return None
    if isinstance(decoded, dict):
        decoded = _message_list(decoded)
    while len(decoded) == 1 and isinstance(decoded[0], list):  # LangChain batches: [[...]]
        decoded = decoded[0]
    found = tuple([m for item in decoded if (m := conventional(item) or message(item, default_role)) is not None])
    return found if found or not decoded else None


def _message_list(value: dict[str, Any]) -> list[Any]:
    prompt = value.get("prompt")
    if isinstance(prompt, (str, list)) and "role" not in value:  # Vercel: {"system", "prompt"}
        system = [{"role": "system", "content": value["system"]}] if isinstance(value.get("system"), str) else []
        return [*system, *(prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}])]
    for key in ("messages", "input", "contents", "choices", "output"):
        inner = value.get(key)
        if isinstance(inner, list) and "role" not in value:
            return inner
    return [value]


_known: Texts[Message] = Texts(4 << 20)
"""Messages by their text between `_OPENING` and the last bracket; those only that read alike whatever the role."""
_OPENING = '{"role"'
_FINISH = re.compile(r', ?"finish_reason": ?"[a-zA-Z_-]*"')

_latest: tuple[str, str, tuple[Message, ...]] = ("-", "", ())
"""The list that was read last, without its last bracket, its default role and its messages. The next request of a
conversation begins with it: then it need not even be cut. Replaced as a whole: safe for threads.
"""
_REMEMBERED = 1 << 20  # characters


def _in_pieces(text: str, default_role: str) -> tuple[Message, ...] | None:
    """The messages of a list of objects that each begin with their role; None when its pieces are no JSON."""
    global _latest
    comma = ", " if text.startswith(": ", len(_OPENING) + 1) else ","  # who spaces the one spaces the other
    start, role, before = _latest
    if role == default_role and text.startswith(start) and text.startswith(comma + _OPENING, len(start)):
        found, begin = list(before), len(start) + len(comma)
    else:
        found, begin = [], 1
    for piece in text[begin + len(_OPENING) : -2].split("}" + comma + _OPENING):
        if piece[-1:] == '"':
            piece = _unfinished(piece)
        read = _known.get(piece) or _message(piece, default_role)
        if read is None:
            return None
        found.append(read)
    read_all = tuple(found)
    if len(found) > 1 and len(text) <= _REMEMBERED:  # an answer is one: it does not drive out the request before it
        _latest = (text[:-1], default_role, read_all)
    return read_all


def _message(piece: str, default_role: str) -> Message | None:
    """One message that was not read before; None when it is no JSON, or nothing that counts as a message."""
    item = parse_json(_OPENING + piece + "}", MAX_DEPTH - 1)  # the list is a level too
    if not isinstance(item, dict):
        return None
    read = conventional(item)
    if read is None:
        read = message(item, default_role)
    if read is not None and names_its_role(item):
        _known[piece] = read
    return read


def _unfinished(piece: str) -> str:
    """An answer without its finish reason, if that comes last: as it stands in the next request.

    Nothing that reads messages asks for the reason. Both texts are JSON or neither is: a quote within a string is
    written with a backslash, so what matches stands between two members of the outermost object.
    """
    at = piece.rfind(",")
    return piece[:at] if at >= 0 and _FINISH.fullmatch(piece, at) else piece
