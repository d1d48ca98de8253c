"""Parts of an alert: window, scope, `by`, labels, annotations. Conditions have a file of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from otel_toolselect.model.alerting import DIMENSIONS, Scope, Span, WindowSpec
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of
from otel_toolselect.rules.durations import parse_length, parse_span
from otel_toolselect.rules.problems import Problems, suggest
from otel_toolselect.rules.templates import FIELDS, names_in

WINDOW_KEYS = ("size", "slide", "zone", "lateness")
SCOPE_KEYS = (*DIMENSIONS, "pair")
Found = Mapping[str, tuple[Scalar, Node]]
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = ("alert", "signal", "severity", "owner", *DIMENSIONS)


def window_fields(node: Node, problems: Problems) -> Found:
    """`window: 5m` is `window: {size: 5m}`."""
    if isinstance(node, Scalar):
        return {"size": (node, node)}
    synonyms = {"step": "slide", "every": "slide", "timezone": "zone", "tz": "zone", "length": "size"}
    return problems.fields(node, "window", WINDOW_KEYS, synonyms=synonyms) or {}


def parse_window(found: Found, at: Node, problems: Problems) -> WindowSpec | None:
    size = parse_span(found["size"][1], "size", problems) if "size" in found else None
    slide = parse_span(found["slide"][1], "slide", problems) if "slide" in found else size
    zone = _zone(found["zone"][1], problems) if "zone" in found else "UTC"
    lateness = parse_length(found["lateness"][1], "lateness", problems) if "lateness" in found else 0
    if "size" not in found:
        problems.add(at, "the window has no size", "write window: 5m, or window: {size: 5m}")
    if size is None or slide is None or zone is None or lateness is None:
        return None
    window = WindowSpec(size, slide, zone, lateness)
    if window.problem is not None:
        problems.add(found["slide"][1], f"a window of {size} cannot slide by {slide}: {window.problem}", _slides(size))
    return window


def _slides(size: Span) -> str:
    smaller: Mapping[str, str] = {"w": "1d", "d": f"1d, or size: {size.count * 24}h", "h": "5m", "m": "1m", "s": "1s"}
    return f"write slide: {smaller[size.unit]}"


def _zone(node: Node, problems: Problems) -> str | None:
    name = problems.text(node, "zone")
    if name is None or name == "UTC":
        return name
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        problems.add(
            node, f"no time zone is called {clip(name, 40)!r}", suggest(name, _zones()) or "write Europe/Berlin"
        )
        return None
    return name


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def parse_scope(node: Node, problems: Problems) -> Scope:
    found = problems.fields(node, "of", SCOPE_KEYS, synonyms={"tools": "tool", "rules": "policy", "agents": "agent"})
    if found is None:
        return Scope()
    names = {key: _names(found[key][1], key, problems) for key in DIMENSIONS if key in found}
    pair = _pair(found["pair"][1], problems) if "pair" in found else None
    if "suite" in found and "policy" in found:
        said = "a figure is of a suite or of a policy, not of both"
        problems.add(found["policy"][0], said, "keep one of them, or write two alerts")
    return Scope(**names, pair=pair)


def _names(node: Node, key: str, problems: Problems) -> tuple[str, ...]:
    if isinstance(node, Items):
        if not node.items:
            problems.add(node, f"{key} is an empty list: nothing would be watched", f"take {key} out, or name one")
        return tuple(dict.fromkeys(text for text, _ in problems.texts(node, key)))
    text = problems.text(node, key)
    return () if text is None else (text,)


def _pair(node: Node, problems: Problems) -> tuple[str, str] | None:
    found = problems.fields(node, "pair", ("expected", "observed"))
    if found is None:
        return None
    for key in ("expected", "observed"):
        if key not in found:
            problems.add(node, f"the pair has no {key}", "write pair: {expected: TOOL, observed: TOOL}")
    texts = [problems.text(found[key][1], key) for key in ("expected", "observed") if key in found]
    if len(texts) < 2 or texts[0] is None or texts[1] is None:
        return None
    if texts[0] == texts[1]:
        problems.add(node, f"{clip(texts[0], 40)!r} taken for itself is no confusion", "name two labels")
    return texts[0], texts[1]


def parse_by(node: Node, problems: Problems) -> tuple[str, ...]:
    found: list[str] = []
    for item in problems.items(node, "by", example="[agent]"):
        word = problems.choice(item, "an entry of by", DIMENSIONS)
        if word in found:
            problems.add(item, f"{word!r} stands twice in by", "once is enough")
        elif word is not None:
            found.append(word)
    return tuple(found)


def parse_labels(node: Node, problems: Problems) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in _texts(node, "labels", "{team: payments}", problems):
        if not _LABEL.fullmatch(key.text):
            problems.add(key, f"a label cannot be called {clip(key.text, 40)!r}", "write letters, digits and _")
        elif key.text in _RESERVED:
            problems.add(key, f"the label {key.text!r} is set by the alert itself", "give it another name")
        else:
            found[key.text] = value
    return found


def parse_annotations(node: Node, known: Sequence[str], problems: Problems) -> dict[str, str]:
    """`known`: names beside FIELDS that a template may use."""
    found: dict[str, str] = {}
    names = (*FIELDS, *known)
    for key, text in _texts(node, "annotations", "{summary: '{value} in {agent}'}", problems):
        value = cast("Fields", node).get(key.text) or node
        try:
            unknown = [name for name in names_in(text) if name not in names]
        except ValueError as error:
            problems.add(
                value,
                f"the annotation {clip(key.text, 40)!r} cannot be read at {clip(str(error), 40)}",
                "write {NAME}; a brace is written twice: {{",
            )
            continue
        for name in unknown:
            problems.add(
                value,
                f"no {clip(name, 40)!r} can be put into an annotation",
                f"write by: [{name}]" if name in DIMENSIONS else suggest(name, names),
            )
        found[key.text] = text
    return found


def _texts(node: Node, what: str, example: str, problems: Problems) -> list[tuple[Scalar, str]]:
    if not isinstance(node, Fields):
        problems.add(node, f"{what} must be a mapping, not {kind_of(node)}", f"write {example}")
        return []
    found = [(key, problems.text(value, f"{what}.{clip(key.text, 40)}")) for key, value in node.entries]
    return [(key, text) for key, text in found if text is not None]
