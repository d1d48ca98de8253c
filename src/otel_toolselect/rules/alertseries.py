"""Series of alert tests: what was seen, step by step, what came late, and when (see `alerttests`)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from otel_toolselect.model.alerting import UNIT_NS
from otel_toolselect.model.alerttests import LateStep, Step, TestSeries
from otel_toolselect.rules._nodes import Fields, Node, Scalar, clip
from otel_toolselect.rules.durations import parse_moment
from otel_toolselect.rules.problems import Problems

SERIES_KEYS = ("alerts", "labels", "steps", "reference", "late")
MAX_STEPS = 50_000
_STEP = re.compile(r"(-?\d+(?:\.\d+)?)(?:([/@])(\d{1,12}))?")
_TIMES = re.compile(r"(.*\S)\s*x(\d{1,6})")
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d))?")
_EXAMPLE = "write 3/20, 7, 4.2@30, _ for a gap, or {NAME: COUNT}"
_SYNONYMS = {"alert": "alerts", "values": "steps", "of": "labels"}


@dataclass(frozen=True, slots=True)
class Clock:
    start_ns: int

    def moment(self, node: Node, what: str, problems: Problems) -> int | None:
        """ISO 8601, or the time of day on the day of the start."""
        found = _CLOCK.fullmatch(node.text) if isinstance(node, Scalar) else None
        if found is None:
            return parse_moment(node, what, problems)
        hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
        if hours > 23 or minutes > 59 or seconds > 59:
            problems.add(node, f"{what} cannot be {found[0]!r}", "write HH:MM, or 2026-11-02T10:00:00Z")
            return None
        day = self.start_ns - self.start_ns % UNIT_NS["d"]
        return day + hours * UNIT_NS["h"] + minutes * UNIT_NS["m"] + seconds * UNIT_NS["s"]


def parse_series(node: Node, clock: Clock, problems: Problems) -> TestSeries | None:
    found = problems.fields(node, "a series", SERIES_KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    for key, way in (("alerts", "write alerts: [ID]"), ("steps", "write steps: [1/20, 3/20]")):
        if key not in found:
            problems.add(node, f"a series has no {key}", way)
    alerts = [text for text, _ in problems.texts(found["alerts"][1], "alerts")] if "alerts" in found else []
    steps: list[Step] = []
    for item in problems.items(found["steps"][1], "steps") if "steps" in found else ():
        steps += _steps(item, problems)
        if len(steps) > MAX_STEPS:
            problems.add(item, f"more than {MAX_STEPS:,} steps", "make every longer, or the series shorter")
            break
    reference = _step(found["reference"][1], problems) if "reference" in found else None
    labels = parse_labels(found["labels"][1], problems) if "labels" in found else {}
    listed = problems.items(found["late"][1], "late") if "late" in found else ()
    late = [_late(item, clock, problems) for item in listed]
    return TestSeries(
        tuple(alerts), tuple(steps), labels, reference, tuple(x for x in late if x is not None), node.line
    )


def _steps(node: Node, problems: Problems) -> list[Step]:
    times = _TIMES.fullmatch(node.text) if isinstance(node, Scalar) else None
    if times is None or not isinstance(node, Scalar):
        step = _step(node, problems)
        return [] if step is None else [step]
    count = int(times[2])
    step = _step(Scalar(times[1], times[1], node.plain, node.line, node.column), problems)
    if not 1 <= count <= MAX_STEPS:
        problems.add(node, f"a step cannot be repeated {count:,} times", f"from 1 to {MAX_STEPS:,}")
        return []
    return [] if step is None else [step] * count


def _step(node: Node, problems: Problems) -> Step | None:
    if isinstance(node, Fields):
        counts = {
            key.text: problems.whole(value, f"the count of {clip(key.text, 40)}", least=0)
            for key, value in node.entries
        }
        return Step(counts={name: n for name, n in counts.items() if n is not None})
    text = node.text if isinstance(node, Scalar) else ""
    if text == "_":
        return Step()
    found = _STEP.fullmatch(text)
    if found is None:
        problems.add(node, f"a step cannot be {clip(text or 'a list', 40)!r}", _EXAMPLE)
        return None
    value, n = float(found[1]), int(found[3]) if found[3] else None
    if found[2] == "/" and n is not None and not 0 <= value <= n:
        problems.add(node, f"{clip(text, 40)} is no share", "write numerator/n, the numerator being at most n")
        return None
    return Step(value, n)


def _late(node: Node, clock: Clock, problems: Problems) -> LateStep | None:
    found = problems.fields(node, "a late step", ("step", "at", "holds"), synonyms={"value": "holds"})
    if found is None:
        return None
    if len(found) < 3:
        way = 'write {step: "10:05", at: "10:22", holds: 5/20}'
        problems.add(node, "a late step names the step, when it came, and what it holds", way)
        return None
    step, at = (clock.moment(found[key][1], key, problems) for key in ("step", "at"))
    holds = _step(found["holds"][1], problems)
    return None if step is None or at is None or holds is None else LateStep(step, at, holds, node.line)


def parse_labels(node: Node, problems: Problems) -> dict[str, str]:
    if not isinstance(node, Fields):
        problems.add(node, "labels must be a mapping", "write {agent: billing}")
        return {}
    texts = {key.text: problems.text(value, f"the label {clip(key.text, 40)!r}") for key, value in node.entries}
    return {name: text for name, text in texts.items() if text is not None}
