"""What the registry holds: dialects, profiles, importers, exporters, conditions, formats, receivers; and the errors."""

from __future__ import annotations

import sys
from typing import Any

from docs._reference._markdown import code, first_sentence, prose, table

from otel_toolselect import errors as tree
from otel_toolselect.gates.policy import known_conditions
from otel_toolselect.registry import discover

FOUND = {
    "Importers of suites": ("otel_toolselect.suites.importers", "toolselect suite import KIND FILE"),
    "Exporters of suites": ("otel_toolselect.suites.exporters", "toolselect suite export KIND SUITE"),
    "Targets of a suite": ("otel_toolselect.suites.runner.targets", "toolselect run --KIND"),
    "Retrieval of tools": ("otel_toolselect.suites.experiments.retrieval", "retrieve: KIND"),
    "Receivers of notifications": ("otel_toolselect.monitor.notifiers", '[[monitor.notify]] type = "KIND"'),
    "Matching profiles": ("otel_toolselect.rules.profiles", "matching: NAME"),
    "Report formats": ("otel_toolselect.reports", "--format NAME"),
}


def page() -> str:
    parts = []
    for title, (package, named) in FOUND.items():
        rows = [(code(name), about(plugin)) for name, plugin in discover(package).items()]
        where = f"Named by `{named}`; others join through the entry point group `{package}`.\n"
        parts += [f"## {title}\n", where, table(("name", "what"), rows)]
    return "\n".join([*parts, conditions()])


def about(plugin: Any) -> str:
    own = getattr(plugin, "about", None)
    return own if isinstance(own, str) else first_sentence(sys.modules[type(plugin).__module__].__doc__)


def conditions() -> str:
    parts = ["## Conditions of the gate\n", "`conditions: {NAME: {OPTION: VALUE}}` in a policy file.\n"]
    for name, condition in known_conditions().items():
        parts.append(f"### `{name}`\n\nFails when {condition.help}. {'On' if condition.on else 'Off'} by default.\n")
        rows = [
            (
                code(key),
                option.kind.replace("_", " "),
                code(option.default) if option.default is not None else "",
                option.help,
            )
            for key, option in condition.options.items()
        ]
        parts.append(table(("option", "value", "default", "meaning"), rows) if rows else "")
    return "\n".join(parts)


def dialects() -> str:
    found = discover("otel_toolselect.dialects")
    rows = [
        (code(name), str(dialect.priority), first_sentence(sys.modules[type(dialect).__module__].__doc__))
        for name, dialect in sorted(found.items(), key=lambda item: -item[1].priority)
    ]
    return table(("dialect", "priority", "reads"), rows)


def errors() -> str:
    return prose(tree.__doc__)
