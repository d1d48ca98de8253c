"""Data frames of runs, verdicts and figures. Times are UTC; rates that are undefined (n = 0) are NaN, never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otel_toolselect.errors import UsageError
from otel_toolselect.model.figures import Confusion, Rate, Report
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import LAYERS

if TYPE_CHECKING:
    import pandas as pd

    from otel_toolselect.model.gating import Comparison, GateResult
    from otel_toolselect.stats.arrivals import Coverage
    from otel_toolselect.stats.repeats import CaseRepeats
    from otel_toolselect.stats.windowed import Windowed

_RATE = ("passed", "n", "rate", "low", "high")


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    return _pandas().DataFrame(list(rows), columns=list(columns))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise UsageError("data frames need pandas: pip install 'otel-toolselect[notebook]'") from error
    return pandas


def _rate(rate: Rate) -> dict[str, Any]:
    """`low` and `high`: the Wilson 95 % interval."""
    low, high = rate.ci95 or (None, None)
    return {"passed": rate.passed, "n": rate.n, "rate": rate.rate, "low": low, "high": high}


def runs(found: Iterable[Run]) -> pd.DataFrame:
    """One row per run, the members of `toolselect events --runs`, with `start` as a time."""
    pd = _pandas()

    from otel_toolselect.reports import run_records

    frame = pd.DataFrame(run_records(found))
    if "start" in frame:
        frame["start"] = pd.to_datetime(frame["start"], utc=True)
    return frame


def events(found: Iterable[Run]) -> pd.DataFrame:
    """One row per event, the members of `toolselect events`; those that do not apply are missing."""
    pd = _pandas()

    from otel_toolselect.reports import event_records

    return pd.DataFrame(event_records(found))


def summary(report: Report) -> pd.DataFrame:
    layers = report.summary.layers
    rows = [{"layer": layer, **_rate(layers[layer])} for layer in LAYERS if layer in layers]
    return _frame(rows, ("layer", *_RATE)).set_index("layer")


def verdicts(report: Report) -> pd.DataFrame:
    """One row per run: what was expected and observed, the status of each layer, cost beside it."""
    rows: list[dict[str, Any]] = []
    for run in report.runs:
        facts = report.facts.get(run.run_id)
        rows.append(
            {
                "run_id": run.run_id,
                "case_id": run.case_id,
                "attempt": run.attempt,
                "label": run.label,
                "request": run.request,
                "expected": run.cells[0].expected if run.cells else None,
                "first_action": run.first_action,
                **{layer: run.layers[layer].status if layer in run.layers else None for layer in LAYERS},
                "excluded": run.excluded,
                "failure": run.failure,
                "owner": run.owner,
                "model": run.model,
                "agent": facts.agent if facts else None,
                "duration_s": facts.duration_ns / 1e9 if facts and facts.duration_ns is not None else None,
                "input_tokens": facts.input_tokens if facts else None,
                "output_tokens": facts.output_tokens if facts else None,
                "cost_usd": facts.cost_usd if facts else None,
            }
        )
    names = ("run_id", "case_id", "attempt", "label", "request", "expected", "first_action", *LAYERS, "excluded")
    more = ("failure", "owner", "model", "agent", "duration_s", "input_tokens", "output_tokens", "cost_usd")
    return _frame(rows, (*names, *more))


def cells(confusion: Confusion) -> pd.DataFrame:
    """One row per cell of the matrix that is not empty; `share` is of the row."""
    totals: dict[str, int] = {}
    for cell, n in confusion.cells:
        totals[cell.expected] = totals.get(cell.expected, 0) + n
    rows = [
        {"expected": cell.expected, "observed": cell.observed, "n": n, "share": n / totals[cell.expected]}
        for cell, n in confusion.cells
    ]
    return _frame(rows, ("expected", "observed", "n", "share"))


def matrix(confusion: Confusion) -> pd.DataFrame:
    """Expected labels down, observed ones across, in one order; 0 where nothing was seen."""
    expected = list(dict.fromkeys(cell.expected for cell, _ in confusion.cells))
    observed = {cell.observed for cell, _ in confusion.cells}
    across = [*(name for name in expected if name in observed), *sorted(observed - set(expected))]
    counts = {(cell.expected, cell.observed): n for cell, n in confusion.cells}
    rows = [{name: counts.get((row, name), 0) for name in across} for row in expected]
    frame = _frame(rows, across)
    frame.index = expected
    frame.index.name, frame.columns.name = "expected", "observed"
    return frame


def tools(confusion: Confusion) -> pd.DataFrame:
    """Recall and precision per tool, with their Wilson 95 % intervals."""
    from otel_toolselect.stats.rates import rate

    rows = []
    for name, tool in confusion.tools.items():
        recall, precision = _rate(rate(tool.correct, tool.support)), _rate(rate(tool.correct, tool.chosen))
        rows.append(
            {
                "tool": name,
                "recall": tool.recall,
                "recall_low": recall["low"],
                "recall_high": recall["high"],
                "precision": tool.precision,
                "precision_low": precision["low"],
                "precision_high": precision["high"],
                "f1": tool.f1,
                "support": tool.support,
                "chosen": tool.chosen,
            }
        )
    names = ("recall", "recall_low", "recall_high", "precision", "precision_low", "precision_high")
    return _frame(rows, ("tool", *names, "f1", "support", "chosen")).set_index("tool")


def flips(cases: Iterable[CaseRepeats]) -> pd.DataFrame:
    """Cases with two attempts or more: how often each passed, whether its first actions disagree, and on what."""
    rows = [
        {"case_id": c.case_id, "passed": c.passed, "n": c.n, "flips": c.flips, "actions": dict(c.actions)}
        for c in cases
        if c.repeated
    ]
    return _frame(rows, ("case_id", "passed", "n", "flips", "actions")).set_index("case_id")


def windows(found: Iterable[Windowed], zone: str) -> pd.DataFrame:
    """One row per window and combination of what it is cut by; an empty window has n 0 and no rate."""
    pd = _pandas()

    rows, names = [], dict[str, None]()
    for one in found:
        worst = one.confusion.worst_recall
        names |= dict.fromkeys(name for name, _ in one.series)
        rows.append(
            {
                "start": pd.Timestamp(one.window.start_ns, tz="UTC").tz_convert(zone),
                "end": pd.Timestamp(one.window.end_ns, tz="UTC").tz_convert(zone),
                **dict(one.series),
                **_rate(one.right),
                "worst_tool": worst.tool if worst else None,
                "worst_recall": worst.recall if worst else None,
            }
        )
    return _frame(rows, ("start", "end", *names, *_RATE, "worst_tool", "worst_recall"))


def window_tools(found: Iterable[Windowed], zone: str) -> pd.DataFrame:
    """Recall and precision per tool in each window."""
    pd = _pandas()

    parts = []
    for one in found:
        part = tools(one.confusion).reset_index()
        part.insert(0, "start", pd.Timestamp(one.window.start_ns, tz="UTC").tz_convert(zone))
        for at, (name, value) in enumerate(one.series, 1):
            part.insert(at, name, value)
        parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else _frame((), ("start", "tool"))


def coverage(rows: Iterable[Coverage]) -> pd.DataFrame:
    """Shares of runs or calls that carry what judging needs; no run or call: NaN."""
    from otel_toolselect.stats.arrivals import NEEDS

    made = []
    for row in rows:
        shares = {need: row.have[need] / row.total(need) if row.total(need) else None for need in NEEDS}
        counts = {"runs": row.runs, "calls": row.calls, "incomplete": sum(row.incomplete.values())}
        made.append({"service": row.service, "dialect": row.dialect, **counts, **shares})
    return _frame(made, ("service", "dialect", "runs", "calls", "incomplete", *NEEDS))


def sides(found: Comparison) -> pd.DataFrame:
    rows = [
        {
            "side": side.name,
            **_rate(side.accuracy),
            "flip_rate": side.flips.rate,
            "worst_tool": side.worst_recall[0] if side.worst_recall else None,
            "worst_recall": side.worst_recall[1].rate if side.worst_recall else None,
            "seconds_median": side.seconds_median,
            "tokens_mean": side.tokens_mean,
            "cost_mean": side.cost_mean,
        }
        for side in found.sides
    ]
    names = ("flip_rate", "worst_tool", "worst_recall", "seconds_median", "tokens_mean", "cost_mean")
    return _frame(rows, ("side", *_RATE, *names)).set_index("side")


def flipped(found: Comparison) -> pd.DataFrame:
    """Cases whose outcome or route differs from the first side's; `p`: exact McNemar over all common cases."""
    rows = [
        {
            "side": against.name,
            "change": change,
            "case_id": case.case_id,
            "before": f"{case.before[0]}/{case.before[1]}",
            "after": f"{case.after[0]}/{case.after[1]}",
            "actions_before": dict(case.actions_before),
            "actions_after": dict(case.actions_after),
            "p": against.p,
        }
        for against in found.against
        for change, cases in (("lost", against.lost), ("gained", against.gained), ("rerouted", against.rerouted))
        for case in cases
    ]
    return _frame(rows, ("side", "change", "case_id", "before", "after", "actions_before", "actions_after", "p"))


def moved(found: Comparison) -> pd.DataFrame:
    """Cells off the diagonal whose share of their row differs from the first side's."""
    rows = [
        {
            "side": against.name,
            "expected": one.cell.expected,
            "observed": one.cell.observed,
            "kind": one.kind,
            "before": one.before[0],
            "before_n": one.before[1],
            "after": one.after[0],
            "after_n": one.after[1],
        }
        for against in found.against
        for one in against.cells
    ]
    return _frame(rows, ("side", "expected", "observed", "kind", "before", "before_n", "after", "after_n"))


def conditions(found: GateResult) -> pd.DataFrame:
    rows = [{"condition": c.condition, "outcome": c.outcome, "says": c.explanation} for c in found.conditions]
    return _frame(rows, ("condition", "outcome", "says")).set_index("condition")
