"""One entry of `cases` -> a Case (R10, R12, R14, R16, R18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of, to_json
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.expect import parse_expect
from otel_toolselect.rules.policy import Policy
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.profile import JSON_VALUES, Profile, parse_matching
from otel_toolselect.rules.suite import Case, Group

KEYS = ("id", "prompt", "agent", "tools", "tags", "risk", "group", "labels", "rationale", "env", "expect", "matching")
_SYNONYMS = {"request": "prompt", "expected": "expect", "name": "id", "query": "prompt", "input": "prompt"}
_CATALOG = "catalog: sha256:<64 hex digits>"
_Found = Mapping[str, tuple[Scalar, Node]]


def parse_case(node: Node, policy: Policy, problems: Problems, profile: Profile = JSON_VALUES) -> Case | None:
    """The case; None when it is too broken to name. Every problem in it is recorded either way."""
    found = problems.fields(node, "a case", KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    case_id = _text(found, "id", problems)
    if "id" not in found:
        problems.add(node, "a case has no id", "write id: NAME")
    tools, catalog = _pinned(found, policy, problems)
    if "matching" in found:
        profile = parse_matching(found["matching"][1], problems) or profile
    draft = Draft(problems, policy, tools, catalog, profile)
    if "expect" not in found:
        problems.add(node, f"the case {clip(case_id or '?')!r} expects nothing", "write expect: {...}")
        return None
    expect = parse_expect(found["expect"][1], draft)
    if case_id is None:
        return None
    return Case(
        id=case_id,
        expect=expect,
        prompt=_text(found, "prompt", problems),
        agent=_text(found, "agent", problems),
        tools=tools,
        catalog=catalog,
        tags=_tags(found, problems),
        risk=_text(found, "risk", problems),
        group=_group(found, problems),
        labels=_labels(found, problems),
        rationale=_text(found, "rationale", problems),
        env=_text(found, "env", problems),
        line=node.line,
    )


def _text(found: _Found, key: str, problems: Problems) -> str | None:
    return problems.text(found[key][1], key) if key in found else None


def _pinned(found: _Found, policy: Policy, problems: Problems) -> tuple[tuple[str, ...] | None, str | None]:
    """`tools`: a list of names, or `catalog: sha256:...`."""
    if "tools" not in found:
        return None, None
    node = found["tools"][1]
    if isinstance(node, Fields):
        inner = problems.fields(node, "tools", ("catalog",)) or {}
        return None, _catalog(inner["catalog"][1], problems) if "catalog" in inner else None
    if isinstance(node, Scalar) and node.text.startswith("catalog:"):
        problems.add(node, "tools must be a list of names or a mapping", f"write tools: {{{_CATALOG}}}")
        return None, None
    names = [policy.canonical(text) for text, _ in problems.texts(node, "tools")]
    return tuple(dict.fromkeys(names)) if isinstance(node, Items) else None, None


def _catalog(node: Node, problems: Problems) -> str | None:
    text = problems.text(node, "catalog")
    digits = (text or "").removeprefix("sha256:")
    if text is None or (text.startswith("sha256:") and len(digits) == 64 and set(digits) <= set("0123456789abcdef")):
        return text
    problems.add(node, f"{clip(text)!r} is not a catalog id", f"write {_CATALOG}")
    return None


def _tags(found: _Found, problems: Problems) -> Mapping[str, str]:
    if "tags" not in found:
        return {}
    node = found["tags"][1]
    if not isinstance(node, Fields):
        problems.add(node, f"tags must be a mapping, not {kind_of(node)}", "write {bucket: core}")
        return {}
    texts = {key.text: problems.text(value, f"the tag {clip(key.text, 40)!r}") for key, value in node.entries}
    return {name: text for name, text in texts.items() if text is not None}


def _group(found: _Found, problems: Problems) -> Group | None:
    if "group" not in found:
        return None
    node = found["group"][1]
    inner = problems.fields(node, "group", ("id", "relation"))
    if inner is None:
        return None
    name = _text(inner, "id", problems)
    if "id" not in inner:
        problems.add(node, "group has no id")
    relation = (
        problems.choice(inner["relation"][1], "relation", ("same", "different")) if "relation" in inner else "same"
    )
    return Group(name, relation) if name is not None and relation is not None else None


def _labels(found: _Found, problems: Problems) -> tuple[Mapping[str, Any], ...]:
    if "labels" not in found:
        return ()
    kept = []
    for item in problems.items(found["labels"][1], "labels", example="[{by: ann, first: [TOOL]}]"):
        inner = problems.fields(item, "an entry of labels", ("by", "first", "class", "note"))
        if inner is None:
            continue
        if "by" not in inner:
            problems.add(item, "an entry of labels does not say by whom", "write {by: NAME, first: [TOOL]}")
        kept.append(cast("Mapping[str, Any]", to_json(item)))
    return tuple(kept)
