"""Labels for people and programs: the queue, a run to be labelled, its history, figures, agreement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.labels import Drawn, Label, Queue
from otel_toolselect.model.runs import Run
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, paint
from otel_toolselect.reports._plain import dumps, short
from otel_toolselect.reports._records import timestamp
from otel_toolselect.reports._timeline import happened
from otel_toolselect.stats.agreement import Agreement
from otel_toolselect.stats.labelled import AgreementFigures, LabelFigures

_SHORT_ID = 12


# the queue


def queue_json(queue: Queue, limit: int) -> str:
    runs = [
        {
            "run_id": one.run_id,
            "trace_id": one.trace_id,
            "start": timestamp(one.start_ns),
            "agent": one.agent,
            "first_action": one.first_action,
            "why": _why(one, queue),
            "reasons": one.reasons,
            "stratum": one.stratum,
            "chance": one.chance,
        }
        for one in queue.waiting[:limit]
    ]
    frame = queue.frame
    record = {
        "day": frame.day, "population": frame.population, "strata": frame.sizes, "sampled": len(frame.drawn),
        "waiting": len(queue.waiting), "runs": runs,
    }  # fmt: skip
    return dumps(record, indent=2) + "\n"


def queue_table(queue: Queue, limit: int, *, colour: bool, width: int) -> str:
    frame = queue.frame
    head = f"{frame.day}: {frame.population} runs, {len(frame.drawn)} in the sample, {len(queue.waiting)} to label"
    blocks: list[Block] = [Line(head, "bold")]
    rows = [
        (
            Cell(one.run_id[:_SHORT_ID]),
            Cell(_why(one, queue), "bad" if one.why == "failure" else ""),
            Cell(one.first_action),
            Cell(one.agent),
            Cell(f"{one.chance:.3g}"),
            Cell(short("; ".join(one.reasons), 60)),
        )
        for one in queue.waiting[:limit]
    ]
    if rows:
        titles = ("run", "why", "first action", "agent", "chance", "reasons")
        blocks.append(Grid(tuple(Column(t, right=t == "chance") for t in titles), tuple(rows), indent=0))
    if len(queue.waiting) > limit:
        blocks.append(Line(f"... and {len(queue.waiting) - limit} more (--limit)", "dim"))
    return paint(blocks, colour=colour, width=width)


def _why(one: Drawn, queue: Queue) -> str:
    return "disputed" if one.run_id in queue.disputed and one.why != "failure" else one.why


# one run


def run_card(run: Run, names: Sequence[str], *, colour: bool, width: int) -> str:
    """A run as a labeller sees it: what was asked and done, and nothing of what anybody says about it."""
    blocks: list[Block] = [Heading(f"run {run.run_id}")]
    blocks += [Line(f"earlier: {short(text, 400)}", "dim", indent=2) for text in run.history[-5:]]
    blocks.append(Line(f"request: {short(run.request or '(not recorded)', 2000)}", "bold", indent=2))
    described = {tool.name: tool.description for tool in run.tools or ()}
    unknown = "" if run.tools is None else "(not offered)"
    rows = tuple(
        (Cell(str(i)), Cell(name), Cell(short(described.get(name, unknown), 70)))
        for i, name in enumerate(names, start=1)
    )
    blocks += [Grid((Column("", right=True), Column("tool"), Column("what it does")), rows)] if rows else []
    blocks += happened(run, width, indent=2)
    return paint(blocks, colour=colour, width=width)


def labels_table(history: Sequence[Label], decisions: Iterable[Decision], *, colour: bool, width: int) -> str:
    """All labels that a run was ever given, and the decisions that rest on what stands."""
    newest = {(x.source, x.labeller): x for x in history}
    rows = [
        (
            Cell((timestamp(x.at_ns) or "")[:19]),
            Cell(x.labeller),
            Cell(x.source),
            Cell(label_says(x)),
            Cell("withdrawn" if x.withdrawn else "" if newest[x.source, x.labeller] == x else "replaced", "dim"),
            Cell(short(x.note, 60)),
        )
        for x in history
    ]
    titles = ("at", "by", "source", "expected", "", "note")
    blocks: list[Block] = [Heading("labels")]
    blocks.append(Grid(tuple(map(Column, titles)), tuple(rows)) if rows else Line("none", indent=2))
    judged = [
        (Cell(d.origin), Cell(d.layers.get("selection", d.status)), Cell("counts" if d.counts else ""), Cell(_cell(d)))
        for d in decisions
    ]
    if judged:
        blocks.append(Heading("decisions"))
        blocks.append(Grid(tuple(map(Column, ("origin", "selection", "", "expected x observed"))), tuple(judged)))
    return paint(blocks, colour=colour, width=width)


def _cell(decision: Decision) -> str:
    return ", ".join(f"{cell.expected} x {cell.observed}" for cell in decision.cells)


def label_says(label: Label) -> str:
    return ", ".join(label.expected) if label.expected else f"not {label.first_action}"


# figures


def figures_json(figures: LabelFigures) -> str:
    sample = figures.sample
    record = {
        "sources": {name: _rate_record(rate) for name, rate in figures.sources.items()},
        "counted": _rate_record(figures.counted),
        "sample": {
            "n": sample.n, "effective_n": sample.effective_n, "rate": sample.rate, "ci95": sample.ci95,
            "stands_for": sample.stands_for, "population": figures.population,
        },
        "by_hand": figures.by_hand,
    }  # fmt: skip
    return dumps(record, indent=2) + "\n"


def figures_table(figures: LabelFigures, *, colour: bool, width: int) -> str:
    rows = [(Cell(name), *_rate_cells(rate)) for name, rate in figures.sources.items()]
    rows.append((Cell("counted once"), *_rate_cells(figures.counted)))
    blocks: list[Block] = [Heading("accuracy of labelled runs, by who labelled")]
    blocks.append(Grid((Column("source"), Column("right", True), Column("n", True), Column("95 %")), tuple(rows)))
    blocks.append(Heading("accuracy of all runs, from people's labels on the sample"))
    blocks += [Line(text, indent=2) for text in _sample_lines(figures)]
    return paint(blocks, colour=colour, width=width)


def _sample_lines(figures: LabelFigures) -> Iterator[str]:
    sample = figures.sample
    if sample.rate is None or sample.ci95 is None:
        yield "no run of a sample is labelled yet: toolselect label next --by NAME"
    else:
        low, high = sample.ci95
        yield f"{_percent(sample.rate)} [{_percent(low)}, {_percent(high)}]"
        yield f"from {sample.n} runs, worth {sample.effective_n:.1f} of an even sample"
        yield f"they stand for {sample.stands_for:.0f} of {figures.population} runs"
    if figures.by_hand:
        yield f"left out: {figures.by_hand} labelled by choice, not drawn"


def _rate_cells(rate: Rate) -> tuple[Cell, Cell, Cell]:
    if rate.rate is None or rate.ci95 is None:
        return Cell("-"), Cell("0"), Cell("")
    low, high = rate.ci95
    return Cell(_percent(rate.rate)), Cell(str(rate.n)), Cell(f"[{_percent(low)}, {_percent(high)}]")


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _rate_record(rate: Rate) -> dict[str, Any]:
    return {"passed": rate.passed, "n": rate.n, "rate": rate.rate, "ci95": rate.ci95}


# agreement


def agreement_json(found: AgreementFigures) -> str:
    pairs = [
        {
            "sources": [p.agreement.first, p.agreement.second], "about": p.about, "n": p.agreement.n,
            "same": p.agreement.same, "kappa": p.agreement.kappa, "ci95": p.agreement.ci95,
        }
        for p in found.pairs
    ]  # fmt: skip
    detections = [
        {
            "source": d.name, "n": d.n, "precision": _rate_record(d.precision), "recall": _rate_record(d.recall),
            "cleared": _rate_record(d.cleared),
        }
        for d in found.detections
    ]  # fmt: skip
    disputes = [{"run_id": d.run_id, "first_action": d.first_action, "said": d.said} for d in found.disputes]
    return dumps({"pairs": pairs, "against_people": detections, "disputes": disputes}, indent=2) + "\n"


def agreement_table(found: AgreementFigures, *, colour: bool, width: int) -> str:
    blocks: list[Block] = [Heading("agreement")]
    rows = tuple(_pair_cells(p.agreement, p.about) for p in found.pairs)
    titles = (Column("sources"), Column("about"), Column("n", True), Column("same", True), Column("kappa"))
    blocks.append(Grid(titles, rows) if rows else Line("no run has two labels yet", indent=2))
    if found.detections:
        blocks.append(Heading("held against people"))
        columns = ("source", "n", "flagged are wrong", "wrong are flagged", "cleared are right")
        lines = tuple(
            (Cell(d.name), Cell(str(d.n)), Cell(_of(d.precision)), Cell(_of(d.recall)), Cell(_of(d.cleared)))
            for d in found.detections
        )
        blocks.append(Grid(tuple(Column(title, title == "n") for title in columns), lines))
    if found.disputes:
        blocks.append(Heading("disagreements"))
        disputes = tuple(
            (
                Cell(d.run_id[:_SHORT_ID]),
                Cell(d.first_action),
                Cell("; ".join(f"{name}: {says}" for name, says in d.said.items())),
            )
            for d in found.disputes
        )
        blocks.append(Grid((Column("run"), Column("first action"), Column("says")), disputes))
    return paint(blocks, colour=colour, width=width)


def _pair_cells(pair: Agreement, about: str) -> tuple[Cell, ...]:
    kappa = "undefined" if pair.kappa is None else f"{pair.kappa:.2f}"
    interval = "" if pair.ci95 is None else f" [{pair.ci95[0]:.2f}, {pair.ci95[1]:.2f}]"
    names = f"{pair.first} / {pair.second}"
    return Cell(names), Cell(about), Cell(str(pair.n)), Cell(str(pair.same)), Cell(kappa + interval)


def _of(rate: Rate) -> str:
    if rate.rate is None or rate.ci95 is None:
        return "-"
    return f"{rate.passed}/{rate.n} [{rate.ci95[0]:.2f}, {rate.ci95[1]:.2f}]"
