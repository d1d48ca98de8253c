"""Signals: what an alert can watch, by name (R48, R53; formulas in design section 7).

A plain table, not plug-ins: each signal is a definition that the store's queries must compute in the same way, so a
package from outside could name one but not supply its values. Whoever adds a signal adds its row here and its query to
the source; a test holds the two together.

Kinds, which decide what an empty window means:

- `ratio`: numerator / n, n being the denominator that `of` names. Without observations it is undefined: no data.
- `quantile`: of the n values that `of` names. Without values: no data.
- `count`: what adds up, also sums of tokens or money. Nothing counted is 0, which is a value like any other.
- `test`: effect size of a change against a reference, with a p-value; no data when either side is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["ratio", "count", "quantile", "test"]
Worse: TypeAlias = Literal["up", "down", "either"]
Unit: TypeAlias = Literal["share", "runs", "calls", "decisions", "seconds", "tokens", "USD", "effect"]


@dataclass(frozen=True, slots=True)
class Signal:
    """`of`: the denominator, or what is counted. `worse`: the direction that hurts. `needs`: what an alert's `of` must
    name. `per_tool`: whether an alert may limit it to tools, or split it by them. `limit`: the condition that holds
    when an alert has none, as (`above` or `below`, number).
    """

    name: str
    kind: Kind
    unit: Unit
    worse: Worse
    of: str
    about: str
    needs: tuple[str, ...] = ()
    per_tool: bool = False
    limit: tuple[Literal["above", "below"], int] | None = None

    @property
    def empty_is_zero(self) -> bool:
        """Whether a window without observations has the value 0; else it has none ("no data")."""
        return self.kind == "count"


_JUDGED = "judged runs (infra failures, catalog gaps and incomplete runs left out)"
_ANY: tuple[Literal["above"], int] = ("above", 0)

_ALL = (
    Signal("accuracy", "ratio", "share", "down", _JUDGED, "runs whose selection passed"),
    Signal("wrong_tool", "ratio", "share", "up", _JUDGED, "runs whose selection failed"),
    Signal(
        "argument_accuracy",
        "ratio",
        "share",
        "down",
        "calls whose tool was right and that carry an argument expectation or a known schema",
        "calls whose arguments passed",
        per_tool=True,
    ),
    Signal(
        "recall",
        "ratio",
        "share",
        "down",
        "times the tool was expected",
        "times it was chosen too",
        ("tool",),
        per_tool=True,
    ),
    Signal(
        "precision",
        "ratio",
        "share",
        "down",
        "times the tool was chosen",
        "times it was expected too",
        ("tool",),
        per_tool=True,
    ),
    Signal(
        "worst_recall",
        "ratio",
        "share",
        "down",
        "times the tool with the lowest recall was expected; tools expected less than min_count times do not compete",
        "the lowest recall of a tool",
    ),
    Signal(
        "confusion_count",
        "count",
        "decisions",
        "up",
        "decisions in one cell of the confusion matrix",
        "how often `expected` came out as `observed`",
        ("pair",),
    ),
    Signal(
        "confusion_share",
        "ratio",
        "share",
        "up",
        "times the pair's `expected` was expected",
        "the share that came out as `observed`",
        ("pair",),
    ),
    Signal(
        "ghost_calls",
        "count",
        "calls",
        "up",
        "calls of tools that were not offered",
        "invented tools",
        per_tool=True,
        limit=_ANY,
    ),
    Signal(
        "forbidden_mutations",
        "count",
        "calls",
        "up",
        "executed writing calls that an expectation forbids",
        "writes that a `never` rules out",
        per_tool=True,
        limit=_ANY,
    ),
    Signal(
        "unauthorized_mutations",
        "count",
        "calls",
        "up",
        "executed writing calls that nothing allows",
        "writes beyond what the expectation grants",
        per_tool=True,
        limit=_ANY,
    ),
    Signal(
        "redundancy",
        "ratio",
        "share",
        "up",
        "calls",
        "calls that repeat an earlier one with nothing changed between",
        per_tool=True,
    ),
    Signal("recovery_loops", "count", "runs", "up", "runs that repeat a failing call beyond their limit", "stuck runs"),
    Signal("clarification_rate", "ratio", "share", "either", _JUDGED, "runs that asked the user back"),
    Signal(
        "over_eager_abstention",
        "ratio",
        "share",
        "up",
        "judged runs in which a call was expected",
        "runs that made none: answered, asked or declined instead",
    ),
    Signal(
        "under_eager_abstention",
        "ratio",
        "share",
        "up",
        "judged runs in which no call was expected",
        "runs that made one all the same",
    ),
    Signal(
        "argument_failures", "count", "calls", "up", "calls of the right tool whose arguments failed", "bad arguments"
    ),
    Signal("infra_rate", "ratio", "share", "up", "complete runs, infra failures among them", "runs that infra spoiled"),
    Signal("latency_p50", "quantile", "seconds", "up", "durations of complete runs", "the median duration"),
    Signal("latency_p95", "quantile", "seconds", "up", "durations of complete runs", "the 95th percentile"),
    Signal("tokens", "count", "tokens", "up", "input and output tokens of all runs", "tokens spent"),
    Signal("tokens_p95", "quantile", "tokens", "up", "tokens of each run that reports them", "the 95th percentile"),
    Signal("cost", "count", "USD", "up", "cost of the runs that report one", "money spent"),
    Signal("cost_p95", "quantile", "USD", "up", "cost of each run that reports one", "the 95th percentile"),
    Signal(
        "ingest_lag_p95",
        "quantile",
        "seconds",
        "up",
        "times from the end of a span to its being stored",
        "the 95th percentile",
    ),
    Signal(
        "decisions",
        "count",
        "decisions",
        "either",
        "decisions, by the tool of the first action",
        "how much there is to judge",
        per_tool=True,
    ),
    Signal(
        "no_data",
        "count",
        "decisions",
        "down",
        "decisions, by the tool of the first action",
        "whether anything arrives at all",
        per_tool=True,
        limit=("below", 1),
    ),
    Signal(
        "drift_tools",
        "test",
        "effect",
        "up",
        "first actions by tool or no-call label",
        "change of the tool mix against the reference: Cramér's V of a G-test",
    ),
    Signal(
        "drift_confusion",
        "test",
        "effect",
        "up",
        "decisions by expected and observed label",
        "change of what is chosen for the same expectation, whatever the mix of expectations does",
    ),
)

SIGNALS: Mapping[str, Signal] = {signal.name: signal for signal in _ALL}
