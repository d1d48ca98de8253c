"""YAML (or JSON) of other tools' files as plain data, read as carefully as suites are: bounded, texts kept."""

from __future__ import annotations

from otel_toolselect.errors import SuiteError
from otel_toolselect.model.values import JSON
from otel_toolselect.rules._nodes import to_json
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.problems import Problems


def read_plain(text: str, *, path: str) -> JSON:
    """The one value of a text. Raises SuiteError with every problem found."""
    problems = Problems(path)
    root = read_yaml(text, problems)
    if problems.found:
        raise SuiteError(problems.found)
    return None if root is None else to_json(root)
