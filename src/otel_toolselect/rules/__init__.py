"""Suites: YAML (and the tiny JSON forms) -> typed expectations, every mistake with file, line and column.

`load_suite` is the way in. Kinds of checks live in `kinds/`, argument matchers in `match/`, one file each, found by
scanning. Nothing here judges: `judge` hands a `RunView` to the compiled checks.
"""

from otel_toolselect.rules.loader import load_suite, parse_suite
from otel_toolselect.rules.policy import Policy, ToolPolicy
from otel_toolselect.rules.suite import Case, Expectation, Group, Suite
from otel_toolselect.rules.view import MIN_CONFIDENCE, CallView, RunView

__all__ = [
    "MIN_CONFIDENCE",
    "CallView",
    "Case",
    "Expectation",
    "Group",
    "Policy",
    "RunView",
    "Suite",
    "ToolPolicy",
    "load_suite",
    "parse_suite",
]
