"""One run in order: request, decisions, calls with arguments, results, answer; verdicts and raw spans beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.app.browse.evidence import Places
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.run_models import Evidence, Judgement, LayerRow, RunTimeline, TimelineEvent
from otel_toolselect.errors import InputError
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import AssistantText, Event, ToolCall, ToolResult, Unknown
from otel_toolselect.model.spans import Span
from otel_toolselect.model.verdicts import LAYERS, Finding, RunVerdict, Status

if TYPE_CHECKING:
    from otel_toolselect.rules.rulefiles import RuleFile
    from otel_toolselect.store.browse_api import RunRecord

SPANS_SHOWN = 2_000
_FIRST_SHOWN: tuple[Status, ...] = ("fail", "needs_review", "excluded", "pass", "n/a")


def run_timeline(reader: Reader, run_id: str, filters: Filters | None = None) -> RunTimeline | None:
    """None when there is no such run for the reader. `filters`: the list in which the neighbours are looked for."""
    browse = reader.store.browse
    record = browse.run(run_id, tenant=reader.tenant)
    if record is None:
        return None
    before, after = None, None
    if filters is not None:
        before, after = browse.neighbours(
            run_id,
            filters.runs(reader.now_ns),
            tenant=reader.tenant,
            sort=filters.order,
            descending=filters.descending,
        )
    spans = browse.spans(record.run, tenant=reader.tenant, limit=SPANS_SHOWN + 1)
    found = _Timeline(record, {span.span_id: span for span in spans[:SPANS_SHOWN]})
    judgements = found.judgements(_rule_verdicts(reader, record))
    return RunTimeline(
        run=record.run,
        tenant=record.tenant,
        events=found.marked(judgements),
        judgements=judgements,
        labels=record.labels,
        parent=record.parent,
        children=record.children,
        before=before,
        after=after,
        spans=found.spans,
        spans_left=len(spans) > SPANS_SHOWN,
    )


class _Timeline:
    """Events with their positions, then what is said about them."""

    def __init__(self, record: RunRecord, spans: Mapping[str, Span]) -> None:
        self.spans = spans
        self._record = record
        self._run = record.run
        self._events: list[TimelineEvent] = []
        self._traffic = next((d for d in record.decisions if d.suite == ""), None)
        self._by_seq: dict[int, int] = {}
        self._build()
        calls = self._run.calls
        first = self._by_seq.get(calls[0].seq) if calls else None
        answers = [e.position for e in self._events if e.kind in ("assistant", "answer")]
        self._answer = answers[-1] if answers else None
        self._first = self._answer if first is None else first

    def _build(self) -> None:
        run = self._run
        if run.request is not None:
            self._add(TimelineEvent(0, "request", 0, content=run.request))
        flags = [again for _, again in self._traffic.calls] if self._traffic else []
        redundant = {call.seq for call, again in zip(run.calls, flags, strict=False) if again}
        offered = run.tools_offered
        results = {r.call_seq: r for r in run.results}
        for event in sorted(run.events, key=lambda e: e.seq):
            self._by_seq[event.seq] = len(self._events)
            one = _shown(event)
            if isinstance(event, ToolCall):
                ghost = offered is not None and event.name not in offered
                one = replace(one, redundant=event.seq in redundant, ghost=ghost)
                one = replace(one, spans=self._spans_of(event, results.get(event.seq)))
            self._add(one)
        if run.final_text and all(run.final_text != text.text for text in run.texts):
            self._add(TimelineEvent(0, "answer", run.events[-1].turn if run.events else 0, content=run.final_text))
        self._pair()

    def _add(self, event: TimelineEvent) -> None:
        self._events.append(replace(event, position=len(self._events)))

    def _pair(self) -> None:
        """Calls and their results point to each other; a result shows the spans of its call."""
        for event in self._run.results:
            mine, call = self._by_seq.get(event.seq), self._by_seq.get(event.call_seq)
            if mine is not None and call is not None:
                self._events[call] = replace(self._events[call], result=mine)
                self._events[mine] = replace(self._events[mine], result_of=call, spans=self._events[call].spans)

    def _spans_of(self, call: ToolCall, result: ToolResult | None) -> tuple[str, ...]:
        """The span that the call was read from, and other spans that bear its call id."""
        found = [call.span_id] if call.span_id in self.spans else []
        if call.call_id:
            found += [i for i, span in self.spans.items() if call.call_id in _call_ids(span)]
        return tuple(dict.fromkeys(found))

    def judgements(self, rules: Mapping[tuple[str, str], RunVerdict]) -> tuple[Judgement, ...]:
        """Worst first, then by name."""
        verdicts = {(verdict.suite, ""): verdict for verdict in self._record.verdicts} | dict(rules)
        found = [
            self._judgement(decision, verdicts.get((decision.suite, decision.rule)))
            for decision in self._record.decisions
            if decision.suite
        ]
        return tuple(sorted(found, key=lambda j: (_FIRST_SHOWN.index(j.status), j.suite, j.rule)))

    def _judgement(self, decision: Decision, verdict: RunVerdict | None) -> Judgement:
        if verdict is None:
            layers = [LayerRow(name, decision.layers[name], "") for name in LAYERS if name in decision.layers]
            return Judgement(decision.suite, decision.rule, decision.status, tuple(layers), (), decision)
        places = self._places(decision)
        ranked = sorted(verdict.findings, key=lambda f: _FIRST_SHOWN.index(f.status))
        findings = [_evidence(decision, i, finding, places) for i, finding in enumerate(ranked, 1)]
        rows = [LayerRow(name, v.status, v.explanation) for name, v in verdict.layers.items() if v.status != "n/a"]
        return Judgement(decision.suite, decision.rule, decision.status, tuple(rows), tuple(findings), decision)

    def _places(self, decision: Decision) -> Places:
        """Calls under the names that the policy of this decision gives them, and under their own."""
        named: dict[str, list[int]] = {}
        canonical = [name for name, _ in decision.calls]
        positions: dict[int, int] = {}
        for i, call in enumerate(self._run.calls):
            positions[call.seq] = self._by_seq[call.seq]
            for name in {call.name, *canonical[i : i + 1]}:
                named.setdefault(name, []).append(self._by_seq[call.seq])
        decided = named.get(decision.first_action, [])
        return Places(positions, named, decided[0] if decided else self._first, self._answer)

    def marked(self, judgements: Sequence[Judgement]) -> tuple[TimelineEvent, ...]:
        """The events, each with the keys of the findings about it. What decides is what the first expectation took for
        the first action: a policy may name tools that decide nothing.
        """
        seen = sorted((j.decision for j in judgements), key=lambda d: (d.origin != "suite", d.suite, d.rule))
        first = self._places(seen[0]).first if seen else self._first
        keys: dict[int, list[str]] = {}
        for judgement in judgements:
            for finding in judgement.findings:
                for position in finding.events:
                    keys.setdefault(position, []).append(finding.key)
        return tuple(
            replace(e, decides=e.position == first, evidence=tuple(keys.get(e.position, ()))) for e in self._events
        )


def _shown(event: Event) -> TimelineEvent:
    common = {"turn": event.turn, "seq": event.seq, "agent": event.agent, "dialect": event.dialect}
    if isinstance(event, AssistantText):
        return TimelineEvent(0, "assistant", content=event.text, **common)  # type: ignore[arg-type]
    value = event.args if isinstance(event, ToolCall) else event.value
    known = None if isinstance(value, Unknown) else value
    reason = value.reason if isinstance(value, Unknown) else None
    shared = {**common, "name": event.name, "call_id": event.call_id, "content": known, "unknown": reason}
    if isinstance(event, ToolCall):
        return TimelineEvent(
            0, "tool_call", raw=event.args_raw, server=event.server, emitted=event.emitted, executed=event.executed,
            start_ns=event.start_ns or None, **shared,  # type: ignore[arg-type]
        )  # fmt: skip
    return TimelineEvent(
        0, "tool_result", ok=event.ok, error_type=event.error_type, infra=event.infra, duration_ns=event.duration_ns,
        **shared,  # type: ignore[arg-type]
    )  # fmt: skip


def _call_ids(span: Span) -> set[str]:
    names = ("gen_ai.tool.call.id", "tool_call.id", "tool.call.id", "ai.toolCall.id")
    return {str(span.attributes[name]) for name in names if span.attributes.get(name)}


def _evidence(decision: Decision, number: int, finding: Finding, places: Places) -> Evidence:
    events, values = places.of(finding)
    name = f"{decision.suite}/{decision.rule}" if decision.rule else decision.suite
    return Evidence(
        key=f"{name}#{number}",
        suite=decision.suite,
        rule=decision.rule,
        check=finding.check,
        layer=finding.layer,
        status=finding.status,
        explanation=finding.explanation,
        evidence=finding.evidence,
        events=events,
        values=values,
    )


def _rule_verdicts(reader: Reader, record: RunRecord) -> dict[tuple[str, str], RunVerdict]:
    """What the rules of the settings find in the run now: of rules only decisions are kept. Those that say otherwise
    than the decision that is kept, as the rule has changed since, are left out.
    """
    from otel_toolselect.judge.policies import judge_rules

    kept = {(d.suite, d.rule): d.status for d in record.decisions if d.rule}
    found: dict[tuple[str, str], RunVerdict] = {}
    for path in reader.settings.live.rules if kept else ():
        file = _rule_file(path)
        for ruling in judge_rules([record.run], file).rulings if file is not None else ():
            key = ruling.verdict.suite, ruling.rule
            if kept.get(key) == ruling.status:
                found[key] = ruling.verdict
    return found


def _rule_file(path: str) -> RuleFile | None:
    """None for one that cannot be read now."""
    try:
        found = Path(path).stat()
        return _loaded(path, found.st_mtime_ns, found.st_size)
    except (OSError, InputError):
        return None


@lru_cache(maxsize=64)
def _loaded(path: str, changed_ns: int, size: int) -> RuleFile:
    from otel_toolselect.rules.rulefiles import load_rules

    return load_rules(path)
