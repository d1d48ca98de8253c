"""Judging: runs and a suite in, verdicts out (R24, design sections 3 and 7). No clock, no network, no I/O.

`judge` is a pure function of its input: the same runs give the same verdicts in whatever order and however often they
come. What hangs on free text is asked of an `Asker` that the caller passes in (`rules.asking`); its answers are input
like the rest.
"""

from otel_toolselect.judge.adjudication import adjudicate
from otel_toolselect.judge.facts import with_facts
from otel_toolselect.judge.judging import judge, judge_run
from otel_toolselect.judge.policies import judge_rules
from otel_toolselect.judge.taxonomy import FAILURES, FailureLabel

__all__ = ["FAILURES", "FailureLabel", "adjudicate", "judge", "judge_rules", "judge_run", "with_facts"]
