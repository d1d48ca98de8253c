"""Silences in YAML: `{id, match: {alert: NAME, agent: {matches: RE2}}, from, until, by, comment}`."""

from __future__ import annotations

from otel_toolselect.model.alerting import Matcher, Silence
from otel_toolselect.rules._nodes import Fields, Node, clip
from otel_toolselect.rules.durations import parse_moment
from otel_toolselect.rules.patterns import compile_node
from otel_toolselect.rules.problems import Problems

KEYS = ("id", "match", "from", "until", "by", "comment")
_SYNONYMS = {"matchers": "match", "author": "by", "start": "from", "end": "until", "reason": "comment"}


def parse_silence(node: Node, problems: Problems) -> Silence | None:
    """None after a mistake."""
    found = problems.fields(node, "a silence", KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    for key in ("id", "match", "from", "until", "by"):
        if key not in found:
            way = "write {id: ..., match: {alert: NAME}, from: TIME, until: TIME, by: WHO}"
            problems.add(node, f"the silence has no {key}", way)
    texts = {key: problems.text(found[key][1], key) for key in ("id", "by", "comment") if key in found}
    matchers = _matchers(found["match"][1], problems) if "match" in found else ()
    begins = parse_moment(found["from"][1], "from", problems) if "from" in found else None
    ends = parse_moment(found["until"][1], "until", problems) if "until" in found else None
    if begins is not None and ends is not None and ends <= begins:
        problems.add(found["until"][1], "the silence ends before it begins", "write a later until")
    silence_id, by = texts.get("id"), texts.get("by")
    if silence_id is None or by is None or begins is None or ends is None:
        return None
    return Silence(silence_id, matchers, begins, ends, by, texts.get("comment") or "")


def _matchers(node: Node, problems: Problems) -> tuple[Matcher, ...]:
    if not isinstance(node, Fields) or not node.entries:
        problems.add(node, "match must say which alerts are meant", "write match: {alert: NAME}")
        return ()
    found: list[Matcher] = []
    for key, value in node.entries:
        if isinstance(value, Fields):
            inner = problems.fields(value, clip(key.text, 40), ("matches",)) or {}
            pattern = compile_node(inner["matches"][1], "matches", problems) if "matches" in inner else None
            if "matches" not in inner:
                problems.add(value, f"{clip(key.text, 40)} has no pattern", "write {matches: PATTERN}")
            found += [] if pattern is None else [Matcher(key.text, pattern=pattern.pattern)]
        else:
            text = problems.text(value, clip(key.text, 40))
            found += [] if text is None else [Matcher(key.text, equals=text)]
    return tuple(found)
