"""How each signal is counted over `judgements`: the one place where a signal's name becomes SQL (`model.signals`).

A figure works on rows of a grain: runs, confusion cells, calls whose arguments were judged, or calls of one of a
decision's lists. `n` and `hit` are conditions or numbers that are added up per row; `value` is a quantile's argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Grain: TypeAlias = Literal["run", "cell", "call", "scored", "ghost", "forbidden", "unauthorized"]

JOINS: Mapping[Grain, str] = {
    "run": "",
    "cell": "ARRAY JOIN Expected AS Wanted, Observed AS Got",
    "call": "ARRAY JOIN Calls AS Tool, CallsRedundant AS Again",
    "scored": "ARRAY JOIN Scored AS Tool, ScoredRight AS Right",
    "ghost": "LEFT ARRAY JOIN Ghosts AS Tool, arrayEnumerate(Ghosts) AS Place",
    "forbidden": "LEFT ARRAY JOIN Forbidden AS Tool, arrayEnumerate(Forbidden) AS Place",
    "unauthorized": "LEFT ARRAY JOIN Unauthorized AS Tool, arrayEnumerate(Unauthorized) AS Place",
}

LISTS = ("ghost", "forbidden", "unauthorized")
"""Grains in which a run without such a call has a row too: how many runs there were counts, whatever tool is meant."""


@dataclass(frozen=True, slots=True)
class Figure:
    """`facts`: about what happened, whatever was expected, so that without a suite or policy all traffic is meant.
    `tool`: the expression that an alert's tool stands for. `level`: of a quantile.
    """

    kind: Literal["ratio", "count", "quantile"]
    grain: Grain = "run"
    n: str = "1"
    hit: str = "0"
    value: str = ""
    level: float = 0.0
    tool: str = ""
    facts: bool = False
    split: str = ""
    """What the rows are told apart by besides: the lowest ratio of the parts is the figure."""


_JUDGED = "Excluded = ''"
_SELECTED = f"{_JUDGED} AND Selection IN ('pass', 'fail')"
_WHOLE = "Excluded != 'incomplete'"
_NO_CALL = "('none', 'ask_followup', 'refuse_no_tool')"
_TOKENS = "ifNull(InputTokens, 0) + ifNull(OutputTokens, 0)"
_HAS_TOKENS = "(InputTokens IS NOT NULL OR OutputTokens IS NOT NULL)"
_RUN, _CALL = "Place <= 1", "Place > 0"  # of a list: a run without such calls has one row, of place 0

FIGURES: Mapping[str, Figure] = {
    "accuracy": Figure("ratio", n=_SELECTED, hit=f"{_SELECTED} AND Selection = 'pass'"),
    "wrong_tool": Figure("ratio", n=_SELECTED, hit=f"{_SELECTED} AND Selection = 'fail'"),
    "argument_accuracy": Figure("ratio", "scored", _JUDGED, f"{_JUDGED} AND Right = 1", tool="Tool"),
    "argument_failures": Figure("count", "scored", _JUDGED, f"{_JUDGED} AND Right = 0", tool="Tool"),
    "recall": Figure("ratio", "cell", "1", "Wanted = Got", tool="Wanted"),
    "precision": Figure("ratio", "cell", "1", "Wanted = Got", tool="Got"),
    "worst_recall": Figure("ratio", "cell", f"Wanted NOT IN {_NO_CALL}", "Wanted = Got", tool="Wanted", split="Wanted"),
    "confusion_count": Figure("count", "cell", "1", "Wanted = {expected:String} AND Got = {observed:String}"),
    "confusion_share": Figure("ratio", "cell", "Wanted = {expected:String}",
                              "Wanted = {expected:String} AND Got = {observed:String}"),
    "ghost_calls": Figure("count", "ghost", _RUN, _CALL, tool="Tool", facts=True),
    "forbidden_mutations": Figure("count", "forbidden", _RUN, _CALL, tool="Tool"),
    "unauthorized_mutations": Figure("count", "unauthorized", _RUN, _CALL, tool="Tool"),
    "redundancy": Figure("ratio", "call", "1", "Again = 1", tool="Tool", facts=True),
    "recovery_loops": Figure("count", hit="Loops > 0", facts=True),
    "clarification_rate": Figure("ratio", n=_JUDGED, hit=f"{_JUDGED} AND ObservedClass = 'ask_followup'", facts=True),
    "over_eager_abstention": Figure(
        "ratio",
        n=f"{_JUDGED} AND notEmpty(Expected) AND Expected[1] NOT IN {_NO_CALL}",
        hit=f"{_JUDGED} AND notEmpty(Expected) AND Expected[1] NOT IN {_NO_CALL} AND ObservedClass != 'call'",
    ),
    "under_eager_abstention": Figure(
        "ratio",
        n=f"{_JUDGED} AND notEmpty(Expected) AND Expected[1] IN {_NO_CALL}",
        hit=f"{_JUDGED} AND notEmpty(Expected) AND Expected[1] IN {_NO_CALL} AND ObservedClass = 'call'",
    ),
    "infra_rate": Figure("ratio", n=_WHOLE, hit="Excluded = 'infra'"),
    "latency_p50": Figure("quantile", n=f"{_WHOLE} AND DurationNs IS NOT NULL", value="DurationNs / 1e9", level=0.5,
                          facts=True),
    "latency_p95": Figure("quantile", n=f"{_WHOLE} AND DurationNs IS NOT NULL", value="DurationNs / 1e9", level=0.95,
                          facts=True),
    "tokens": Figure("count", hit=_TOKENS, facts=True),
    "tokens_p95": Figure("quantile", n=_HAS_TOKENS, value=_TOKENS, level=0.95, facts=True),
    "cost": Figure("count", hit="ifNull(CostUsd, 0)", facts=True),
    "cost_p95": Figure("quantile", n="CostUsd IS NOT NULL", value="CostUsd", level=0.95, facts=True),
    "decisions": Figure("count", hit="1", tool="FirstAction", facts=True),
    "no_data": Figure("count", hit="1", tool="FirstAction", facts=True),
}  # fmt: skip
"""Signals that are counted here. Of kind `test` a source makes the value from `MIXES`; lag is of spans, not of runs."""

MIXES: Mapping[str, tuple[Grain, str, bool]] = {
    "drift_tools": ("run", "FirstAction", True),
    "drift_confusion": ("cell", "(Wanted, Got)", False),
}
"""Signal -> grain, what is counted by its values, and whether it is of facts."""

DIMENSIONS: Mapping[str, str] = {
    "suite": "Suite",
    "policy": "if(Rule = '', Suite, concat(Suite, '/', Rule))",
    "agent": "Agent",
    "service": "ServiceName",
    "model": "Model",
    "prompt": "PromptVersion",
    "catalog": "CatalogId",
    "tenant": "Tenant",
    "origin": "Origin",
}
"""What figures are cut by, beside the tool."""
