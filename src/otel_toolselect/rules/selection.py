"""`match`: which runs a rule of a `rules:` file is about (design section 6, R47). What is not written does not limit.

    match:
      agent: [support, billing]            # one of these; or {matches: RE2}
      service: shop
      model: {matches: "^gpt-"}
      tools_offered: [issue_refund]        # all of these were offered
      request: "(?i)refund"                # RE2, found in the user's request
      attributes: {deployment.environment: production}

`attributes` are those of the run's resource and root span, equal as JSON values are (1 is 1.0, true is not 1). A run
whose trace does not hold what a condition looks at does not match: a policy is about what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_toolselect.model.runs import Run
from otel_toolselect.model.values import JSON, json_equal
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of, to_json
from otel_toolselect.rules.patterns import Pattern, compile_node
from otel_toolselect.rules.policy import Policy
from otel_toolselect.rules.problems import Problems

_NAMES = ("agent", "service", "model")
KEYS = (*_NAMES, "tools_offered", "request", "attributes")
_SYNONYMS = {"tools": "tools_offered", "service.name": "service", "prompt": "request", "attribute": "attributes"}


@dataclass(frozen=True, slots=True)
class Name:
    """One of these texts, or a text in which the pattern is found."""

    texts: frozenset[str] = frozenset()
    pattern: Pattern | None = field(default=None, compare=False)

    def fits(self, text: str | None) -> bool:
        if text is None:
            return False
        return text in self.texts or (self.pattern is not None and self.pattern.search(text) is not None)


@dataclass(frozen=True, slots=True)
class Match:
    agent: Name | None = None
    service: Name | None = None
    model: Name | None = None
    tools_offered: tuple[str, ...] = ()
    request: Pattern | None = field(default=None, compare=False)
    attributes: Mapping[str, tuple[JSON, ...]] = field(default_factory=dict)
    selective: bool = field(init=False, compare=False, repr=False)
    """False for one that limits nothing, as most do: it fits every run."""

    def __post_init__(self) -> None:
        limits = (self.agent, self.service, self.model, self.request, self.tools_offered or None)
        object.__setattr__(self, "selective", any(x is not None for x in limits) or bool(self.attributes))

    def fits(self, run: Run, policy: Policy) -> bool:
        """Whether the rule is about this run."""
        if self.agent is not None and not self.agent.fits(run.agent):
            return False
        if self.service is not None and not self.service.fits(run.service):
            return False
        if self.model is not None and not self.model.fits(run.model):
            return False
        if self.request is not None and (run.request is None or self.request.search(run.request) is None):
            return False
        if self.tools_offered and not self._offered(run, policy):
            return False
        return not self.attributes or all(_has(run, k, v) for k, v in self.attributes.items())

    def _offered(self, run: Run, policy: Policy) -> bool:
        return run.tools is not None and policy.offered(run.tools).keys() >= set(self.tools_offered)


def _has(run: Run, name: str, wanted: tuple[JSON, ...]) -> bool:
    return name in run.attributes and any(json_equal(run.attributes[name], value) for value in wanted)


def parse_match(node: Node, policy: Policy, problems: Problems) -> Match:
    """The conditions; every mistake is recorded."""
    found = problems.fields(node, "match", KEYS, synonyms=_SYNONYMS) or {}
    names = {key: _name(found[key][1], key, problems) for key in _NAMES if key in found}
    tools: list[str] = []
    if "tools_offered" in found:
        value = found["tools_offered"][1]
        listed = problems.texts(value, "tools_offered")
        tools = [policy.canonical(text) for text, _ in listed]
        if not listed and isinstance(value, Items):
            problems.add(value, "tools_offered is an empty list", "take it out: a rule without it is about every run")
    request = compile_node(found["request"][1], "request", problems) if "request" in found else None
    attributes = _attributes(found["attributes"][1], problems) if "attributes" in found else {}
    return Match(**names, tools_offered=tuple(dict.fromkeys(tools)), request=request, attributes=attributes)


def _name(node: Node, key: str, problems: Problems) -> Name | None:
    if isinstance(node, Fields):
        inner = problems.fields(node, key, ("matches",)) or {}
        if "matches" not in inner:
            problems.add(node, f"{key} has no pattern", f"write {key}: NAME, a list of names, or {{matches: PATTERN}}")
            return None
        pattern = compile_node(inner["matches"][1], f"{key}.matches", problems)
        return None if pattern is None else Name(pattern=pattern)
    if isinstance(node, Items):
        texts = [text for text, _ in problems.texts(node, key)]
        if not node.items:
            problems.add(node, f"{key} is an empty list: no run would match", f"take {key} out, or name one")
        return Name(frozenset(texts))
    text = problems.text(node, key)
    return None if text is None else Name(frozenset((text,)))


def _attributes(node: Node, problems: Problems) -> dict[str, tuple[JSON, ...]]:
    if not isinstance(node, Fields):
        problems.add(node, f"attributes must be a mapping, not {kind_of(node)}", "write {NAME: VALUE}")
        return {}
    found: dict[str, tuple[JSON, ...]] = {}
    for key, value in node.entries:
        values = value.items if isinstance(value, Items) else (value,)
        if not values or not all(isinstance(v, Scalar) for v in values):
            what = f"the attribute {clip(key.text, 40)!r}"
            problems.add(value, f"{what} must be a value or a list of values", "write {NAME: VALUE}")
            continue
        found[key.text] = tuple(to_json(v) for v in values)
    return found
