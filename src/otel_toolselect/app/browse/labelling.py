"""What a labeller is asked, and where sources disagree (R14, R47)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.run_models import DisputeRow, LabelCard, QueueItem, QueueView, RunTimeline
from otel_toolselect.app.browse.timeline import run_timeline
from otel_toolselect.app.labels import Desk
from otel_toolselect.model.decisions import LABELS
from otel_toolselect.model.labels import Label
from otel_toolselect.store.browse_api import RunSummary

RUNS_LOOKED_AT = 1_000


def label_queue(reader: Reader, desk: Desk, day: str, by: str = "", limit: int = 50) -> QueueView:
    """What is left to label of a UTC day, YYYY-MM-DD; without `by`: by anybody. `desk` is of the same store.

    A reader of one tenant sees its runs of the day's sample, which is drawn of all; sizes of strata are not told.
    """
    queue = desk.queue(day, by)
    whole = reader.tenant is None
    looked_at = queue.waiting[: limit if whole else RUNS_LOOKED_AT]
    summaries = {row.run_id: row for row in _summaries(reader, [one.run_id for one in looked_at])}
    shown = [one for one in looked_at if one.run_id in summaries]
    told = {} if by else _by_run(reader.store.labels.of_runs(sorted(summaries)))
    items = [
        QueueItem(one, summaries[one.run_id], one.run_id in queue.disputed, tuple(told.get(one.run_id, ())))
        for one in shown[:limit]
    ]
    left = len(queue.waiting) if whole else len(shown)
    return QueueView(day, by, queue.frame.sizes if whole else {}, tuple(items), left)


def label_disputes(reader: Reader, filters: Filters, limit: int = 50) -> tuple[DisputeRow, ...]:
    """Runs of the window on which two sources disagree, latest first; the `RUNS_LOOKED_AT` labelled last are seen."""
    window = filters.window(reader.now_ns)
    labels = list(reader.store.labels.all(since_ns=window.start_ns, until_ns=window.end_ns))
    labels.sort(key=lambda label: -label.at_ns)
    ids = list(dict.fromkeys(label.run_id for label in labels))[:RUNS_LOOKED_AT]
    given = _by_run(labels)
    summaries = _summaries(reader, ids)
    found = [_dispute(row, given[row.run_id]) for row in summaries]
    return tuple(sorted((one for one in found if one is not None), key=lambda d: -d.summary.start_ns)[:limit])


def label_card(reader: Reader, desk: Desk, run_id: str, by: str) -> LabelCard | None:
    """What others say is told only once the labeller has said something: two labels are to be two opinions."""
    timeline = run_timeline(reader, run_id)
    if timeline is None:
        return None
    mine = next((x for x in timeline.labels if x.source == "person" and x.labeller == by), None)
    if mine is None:
        timeline = _blind(timeline)
        return LabelCard(timeline, desk.names(timeline.run), None, (), ())
    others = tuple(x for x in timeline.labels if x is not mine)
    return LabelCard(timeline, desk.names(timeline.run), mine, others, reader.store.labels.history(run_id))


def _blind(timeline: RunTimeline) -> RunTimeline:
    """Without what people, judges and the trace say was expected."""
    kept = tuple(j for j in timeline.judgements if j.suite != LABELS)
    return replace(timeline, labels=(), judgements=kept)


def _summaries(reader: Reader, run_ids: Sequence[str]) -> tuple[RunSummary, ...]:
    return reader.store.browse.summaries(run_ids, tenant=reader.tenant)


def _by_run(labels: Sequence[Label]) -> dict[str, list[Label]]:
    found: dict[str, list[Label]] = {}
    for label in sorted(labels, key=lambda x: (x.source, x.labeller)):
        found.setdefault(label.run_id, []).append(label)
    return found


def _dispute(row: RunSummary, labels: Sequence[Label]) -> DisputeRow | None:
    """None when all agree whether the first action was right, and those who name what was expected name the same."""
    origins = [(s.origin, s.status) for s in row.standings if s.suite == LABELS and s.origin == "attribute"]
    right = {label.accepts for label in labels} | {status == "pass" for _, status in origins}
    named = {label.says for label in labels if label.source == "person" and label.expected}
    if len(right) < 2 and len(named) < 2:
        return None
    return DisputeRow(row, tuple(labels), tuple(origins))
