"""Baselines, gates and comparisons (R22, R42-R45, R56).

A *baseline* is what was accepted, with who accepted it; a *gate* asks whether a candidate may replace it; a
*comparison* shows what moved between any number of reports. All are pure functions on reports; YAML is read through
`rules`. Conditions live in `conditions/`, one file each, found by scanning.
"""

from otel_toolselect.gates.accepting import accept, diff, summary_lines
from otel_toolselect.gates.baselines import dump_baseline, load_baseline
from otel_toolselect.gates.comparing import SPLITS, compare, labelled, split
from otel_toolselect.gates.gate import check
from otel_toolselect.gates.policy import Policy, known_conditions, load_policy

__all__ = [
    "SPLITS",
    "Policy",
    "accept",
    "check",
    "compare",
    "diff",
    "dump_baseline",
    "known_conditions",
    "labelled",
    "load_baseline",
    "load_policy",
    "split",
    "summary_lines",
]
