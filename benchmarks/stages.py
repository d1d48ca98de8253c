"""What each stage from bytes to verdicts costs: processor milliseconds per 1,000 spans, beside a floor of the same run.

    python -m benchmarks.stages FOLDER [REQUESTS]

FOLDER holds `load.bin`, export requests one behind the other, and `index.json` with `frames`: [offset, bytes, spans] of
each. Its runs are judged against a suite that is made of their own case ids, and against the rule packs in `rules/`.

The floor is what no receiver in Python can do without: the request parsed by protobuf's C code, and every attribute
that is JSON parsed once by json's. Each request goes through all stages before the next one does, as in a server; the
whole is done ROUNDS times and the best of each request and stage counts, which other work on the machine disturbed
least. Inserts and writes take what a server would put into one of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_toolselect.assemble import CaseAttributes, assemble, bonds
from otel_toolselect.dialects import read
from otel_toolselect.judge import judge, judge_rules
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.otlp import decode_traces_proto
from otel_toolselect.rules import Suite, parse_suite
from otel_toolselect.rules.rulefiles import RuleFile, load_rules
from otel_toolselect.store import open_store
from otel_toolselect.store.columns import to_ipc
from otel_toolselect.store.rows import span_columns

ROUNDS = 3
INSERT = 8_192
"""Spans of one insert."""
NAMES = CaseAttributes(case_id=("test.case.id", *CaseAttributes().case_id))
PACKS = Path(__file__).parents[1] / "rules"
FLOOR = ("floor: parse", "floor: json")
T = TypeVar("T")


class Stages:
    """Processor time by stage; of the rounds the best of each piece counts."""

    def __init__(self) -> None:
        self._best: dict[str, dict[int, float]] = {}

    def timed(self, stage: str, piece: int, work: Callable[[], T]) -> T:
        started = time.process_time()
        made = work()
        took = time.process_time() - started
        known = self._best.setdefault(stage, {})
        known[piece] = min(took, known.get(piece, took))
        return made

    def per_thousand(self, spans: int) -> dict[str, float]:
        return {stage: sum(pieces.values()) * 1e6 / spans for stage, pieces in self._best.items()}


def requests(folder: Path, limit: int) -> list[bytes]:
    frames = json.loads((folder / "index.json").read_text())["frames"][:limit]
    with (folder / "load.bin").open("rb") as file:
        found = []
        for offset, size, _ in frames:
            file.seek(offset)
            found.append(file.read(size))
    return found


def parse_json(spans: Sequence[Span]) -> None:
    for span in spans:
        for value in span.attributes.values():
            if isinstance(value, str) and value[:1] in ("{", "["):
                try:
                    json.loads(value)
                except ValueError:
                    continue  # cut off by the sender


def suite_of(runs: Sequence[Run]) -> Suite:
    """A case for each that the runs name: its first and last tool in order, one that it must not call, arguments."""
    tools = sorted({c.name for r in runs for c in r.calls})
    policy = "\n".join(f"    {tool}: {{effect: {'read' if i % 3 else 'write'}}}" for i, tool in enumerate(tools))
    cases = {r.case_id: _case(r.case_id, r, tools) for r in runs if r.case_id is not None and r.calls}
    name = next((r.suite for r in runs if r.suite), "stages")
    text = "\n".join([f"suite: {json.dumps(name)}", "policy:", "  tools:", policy, "cases:", *cases.values()])
    return parse_suite(text, path="stages.yaml")


def _case(case_id: str, run: Run, tools: Sequence[str]) -> str:
    first, last = run.calls[0].name, run.calls[-1].name
    never = next((t for t in tools if t not in (first, last)), None)
    argument = next(iter(run.calls[0].known_args or {"none": 0}))
    expect = [f"first: [{first}]", f"eventually: [{last}]", "budget: {calls: 8, redundant: 1}"]
    expect += [f"never: [{never}]"] if never else []
    expect += [f"order: [{{first: {first}, then: {last}, needs: ok}}]"] if first != last else []
    expect.append(f"args: {{{first}: {{{argument}: {{any: true}}}}}}")
    return f"  - {{id: {json.dumps(case_id)}, expect: {{{', '.join(expect)}}}}}"


def packs() -> list[RuleFile]:
    return [load_rules(p) for p in sorted(PACKS.glob("*.yaml")) if not p.name.endswith(".test.yaml")]


def measured(bodies: Sequence[bytes], dsn: str) -> tuple[dict[str, float], int, int]:
    """Milliseconds per 1,000 spans by stage, spans and runs."""
    stages = Stages()
    spans = runs = 0
    suite, rules = suite_of([run for body in bodies for run in _reading(Stages(), 0, body)[1]]), packs()
    store = open_store(dsn)
    for _ in range(ROUNDS):
        spans = runs = 0
        waiting: list[Span] = []
        judged: list[Run] = []
        told: list[RunVerdict] = []
        for i, body in enumerate(bodies):
            made, found = _reading(stages, i, body)
            verdicts = stages.timed("judge: suite", i, lambda f=found, s=suite: judge(f, s))
            stages.timed("judge: rule packs", i, lambda f=found: [judge_rules(f, r) for r in rules])
            waiting, judged = waiting + list(made), judged + found
            told += verdicts.runs
            spans, runs = spans + len(made), runs + len(found)
            if len(waiting) >= INSERT or i == len(bodies) - 1:
                stages.timed("insert", i, lambda w=waiting: store.insert(w, ()))
                stages.timed("write", i, lambda j=judged, t=told: (store.write_runs(j), store.write_verdicts(t)))
                waiting, judged, told = [], [], []
    store.close()
    return stages.per_thousand(spans), spans, runs


def _reading(stages: Stages, i: int, body: bytes) -> tuple[Sequence[Span], list[Run]]:
    stages.timed(FLOOR[0], i, lambda: ExportTraceServiceRequest.FromString(body))
    spans = stages.timed("parse and decode", i, lambda: decode_traces_proto(body)).spans
    stages.timed(FLOOR[1], i, lambda: parse_json(spans))
    stages.timed("columns, of the insert", i, lambda: list(to_ipc(span_columns(spans), 64 << 20)))
    observations = stages.timed("read", i, lambda: read(spans))
    stages.timed("bonds", i, lambda: [bonds(trace) for trace in by_trace(observations)])
    return spans, stages.timed("assemble", i, lambda: assemble(observations, NAMES))


def by_trace(observations: Sequence[Observation]) -> Iterator[list[Observation]]:
    found: dict[str, list[Observation]] = {}
    for o in observations:
        found.setdefault(o.span.trace_id, []).append(o)
    yield from found.values()


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    bodies = requests(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30)
    with tempfile.TemporaryDirectory(prefix="toolselect-stages-") as folder:
        found, spans, runs = measured(bodies, f"chdb://{folder}")
    floor = sum(found[name] for name in FLOOR)
    print(f"processor milliseconds per 1,000 spans ({spans:,} spans, {runs:,} runs, best of {ROUNDS} rounds)")
    for name, ms in found.items():
        print(f"{name:<24}{ms:>8.1f}   {ms / floor:>6.2f} x floor")
    whole = sum(ms for name, ms in found.items() if name not in FLOOR and not name.startswith("columns"))
    print(f"{'whole path':<24}{whole:>8.1f}   {whole / floor:>6.2f} x floor")


if __name__ == "__main__":
    main()
