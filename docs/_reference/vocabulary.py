"""What suites, rule files, alert files and their tests may say: from the registry and the JSON Schema."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from docs._reference._markdown import code, first_paragraph, first_sentence, prose, table

from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.rules import jsonschema, matching
from otel_toolselect.rules.check import Kind
from otel_toolselect.rules.expect import kinds

INNER = ("literal", "object")
"""Matchers without a name of their own in a file."""


def expectations() -> str:
    """One section per kind of check that a file can name, then those that are always made."""
    named = {name: kind for name, kind in kinds().items() if not kind.implicit}
    parts = [f"### `{name}`\n\n{prose(_module(kind))}\n" for name, kind in named.items()]
    implicit = [(code(name), first_sentence(_module(kind))) for name, kind in kinds().items() if kind.implicit]
    always = "### Always checked\n\nWithout a word in a suite; in a rule file where `checks` asks for it.\n\n"
    return "\n".join([*parts, always + table(("check", "what"), implicit)])


def matchers() -> str:
    found = {name: plugin for name, plugin in matching.matchers().items() if name not in INNER}
    rows = [
        (code(name), ", ".join(code(option) for option in sorted(plugin.options)), first_paragraph(_module(plugin)))
        for name, plugin in found.items()
    ]
    return table(("matcher", "options beside it", "takes"), rows)


def files() -> str:
    """Keys of each kind of file, and of what they hold."""
    return "\n".join(
        _members(title, definition)
        for title, definition in {
            "A suite": "suite_file",
            "A rule file": "rules_file",
            "`policy`": "policy",
            "`match`": "match",
            "Tests of rules": "tests_file",
            "A run in a test": "run",
            "An event in a test": "event",
        }.items()
    )


def alerts() -> str:
    return "\n".join(
        _members(title, definition)
        for title, definition in {
            "An alert file": "alerts_file",
            "`window`": "alert_window",
            "`condition`": "alert_condition",
            "Tests of alerts": "alert_tests_file",
        }.items()
    )


def signals() -> str:
    rows = [(code(s.name), s.kind, s.unit, s.of, s.about) for s in SIGNALS.values()]
    return table(("signal", "kind", "unit", "of", "counts"), rows)


def _module(plugin: Kind | Any) -> str | None:
    return sys.modules[type(plugin).__module__].__doc__


def _members(title: str, definition: str) -> str:
    schema = jsonschema.schema()
    rows = [(code(path), kind, needed) for path, kind, needed in _walk(schema["$defs"][definition], "")]
    return f"### {title}\n\n" + table(("key", "value", ""), rows)


def _walk(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        here = f"{path}{name}"
        yield here, kind_of(inner), "required" if name in required else ""
        for nested, suffix in _nested(inner):
            yield from _walk(nested, f"{here}{suffix}.")


def _nested(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    if schema.get("type") == "object" and "properties" in schema:
        yield schema, ""
    if schema.get("type") == "array" and "properties" in schema.get("items", {}):
        yield schema["items"], "[]"


def kind_of(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return f"see {schema['$ref'].rpartition('/')[2].replace('_', ' ')}"
    if "enum" in schema:
        return ", ".join(code(one) for one in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(kind_of(one) for one in schema[several]))
    kind = schema.get("type", "any value")
    if kind == ["string", "number", "boolean"]:
        return "text"
    if kind == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    if kind == "object":
        return "table"
    return "text" if kind == "string" else " or ".join(kind) if isinstance(kind, list) else kind
