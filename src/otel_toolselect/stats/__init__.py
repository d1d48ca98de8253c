"""Figures from verdicts: pure functions, independent of the order of their input (R38, R39, R44; design
section 7). Each module defines its measures in its docstring.
"""

from otel_toolselect.stats.agency import Agency, agency, redundancy
from otel_toolselect.stats.arrivals import Coverage, Scope, coverage, scopes
from otel_toolselect.stats.averages import Average, of_labels, of_tools
from otel_toolselect.stats.confusion import confusion
from otel_toolselect.stats.groups import GroupStability, group_stability, right_pairs, stable_groups
from otel_toolselect.stats.paired import Paired, mcnemar, paired
from otel_toolselect.stats.rates import rate, wilson
from otel_toolselect.stats.repeats import CaseRepeats, Repeats, repeats, selected
from otel_toolselect.stats.risk import RiskView, risk_view
from otel_toolselect.stats.summary import ordered, report, summary
from otel_toolselect.stats.trend import Point, trend

__all__ = [
    "Agency",
    "Average",
    "CaseRepeats",
    "Coverage",
    "GroupStability",
    "Paired",
    "Point",
    "Repeats",
    "RiskView",
    "Scope",
    "agency",
    "confusion",
    "coverage",
    "group_stability",
    "mcnemar",
    "of_labels",
    "of_tools",
    "ordered",
    "paired",
    "rate",
    "redundancy",
    "repeats",
    "report",
    "right_pairs",
    "risk_view",
    "scopes",
    "selected",
    "stable_groups",
    "summary",
    "trend",
    "wilson",
]
