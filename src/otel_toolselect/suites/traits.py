"""What kind of case a case is, for coverage (R12, R15): from its tags where they say so, else from what it expects.

- negative: nothing should be called (class none, clarify or refuse, or only no-call labels), or `kind: negative`;
- near-miss: another tool is close by: `overlap: high`, a group whose variants must change the route, `kind: near_miss`;
- edge: negative, near-miss, `kind: edge` or `adversarial`, missing data, or a tool that is not available;
- happy: the rest.
"""

from __future__ import annotations

from otel_toolselect.rules import Case

AXES = ("explicitness", "overlap", "missing_data", "side_effects", "availability", "context_length")
_KINDS = ("kind", "type", "category")
_NO = ("", "no", "none", "false", "0", "low")
_AVAILABLE = ("", "yes", "true", "available", "all", "offered")


def _kind(case: Case) -> str:
    return next((case.tags[k] for k in _KINDS if k in case.tags), "").lower().replace("-", "_").replace(" ", "_")


def tag(case: Case, axis: str) -> str:
    return case.tags.get(axis, case.tags.get(axis.replace("_", "-"), "")).lower()


def is_negative(case: Case) -> bool:
    return _kind(case) == "negative" or case.expect.decision in ("none", "clarify", "refuse")


def is_near_miss(case: Case) -> bool:
    changes = case.group is not None and case.group.relation == "different"
    return _kind(case) == "near_miss" or tag(case, "overlap") == "high" or changes


def is_unavailable(case: Case) -> bool:
    return tag(case, "availability") not in _AVAILABLE


def is_edge(case: Case) -> bool:
    odd = _kind(case) in ("edge", "adversarial") or tag(case, "missing_data") not in _NO
    return odd or is_negative(case) or is_near_miss(case) or is_unavailable(case)


def bucket(case: Case) -> str:
    return case.tags.get("bucket", "").lower()


def opinion(label: object) -> str:
    """One labeller's label as one word: the allowed firsts in any order, else the class."""
    entry = label if isinstance(label, dict) else {}
    first = entry.get("first")
    listed = first if isinstance(first, list) else [first] if first else []
    return " | ".join(sorted(map(str, listed))) or str(entry.get("class") or "")


def disagreed(case: Case) -> bool:
    return len({opinion(label) for label in case.labels}) > 1
