"""The Python API: what the commands do, for notebooks and scripts (issue H point 6).

    from otel_toolselect import notebook as ts

    card = ts.score("traces.jsonl", suite="suite.yaml")
    card                      # a scorecard, in a notebook
    card.summary              # a data frame: passed, n, rate and 95 % interval of each layer
    card.chart()              # the confusion matrix as a heat map
    ts.confusion(window="1d", since="30d", by="agent").frame

Functions take what the commands take, and raise what the commands print: errors of `otel_toolselect.errors`, each of
which says what to do next. Nothing is printed. Data frames need pandas, charts altair: the extra `notebook`.
"""

from otel_toolselect.notebook._functions import (
    compare,
    confusion,
    doctor,
    evaluate,
    gate,
    read_report,
    runs,
    score,
    stored_runs,
)
from otel_toolselect.notebook._results import Comparison, Gated, Runs, Scorecard, Windows

__all__ = [
    "Comparison",
    "Gated",
    "Runs",
    "Scorecard",
    "Windows",
    "compare",
    "confusion",
    "doctor",
    "evaluate",
    "gate",
    "read_report",
    "runs",
    "score",
    "stored_runs",
]
