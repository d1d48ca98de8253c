"""Figures from verdicts: pure functions, independent of the order of their input (R38, R39, R44; design
section 7).
"""

from otel_toolselect.stats.arrivals import Coverage, Scope, coverage, scopes
from otel_toolselect.stats.confusion import confusion
from otel_toolselect.stats.rates import rate, wilson
from otel_toolselect.stats.summary import ordered, report, summary

__all__ = [
    "Coverage",
    "Scope",
    "confusion",
    "coverage",
    "ordered",
    "rate",
    "report",
    "scopes",
    "summary",
    "wilson",
]
