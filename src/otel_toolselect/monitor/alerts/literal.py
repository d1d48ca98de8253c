"""A source of literal series: what a test of alerts writes down, summed up into windows (issue F).

A window adds up its steps: numerators and n of a ratio, counts of a count; a quantile cannot be added up, so its
windows are a step long. A pair `3/20` given to a count is its first number, to `decisions` and `no_data` its second. A
quantile without `@n` rests on as many values as the alert needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Alert, Observed, Query, Reference, Series, Window
from otel_toolselect.model.alerttests import AlertTest, Step, TestSeries
from otel_toolselect.model.signals import SIGNALS, Signal
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor.alerts.drifting import confusion_drifted, tools_drifted
from otel_toolselect.stats.windows import Windows

_OF_N = ("decisions", "no_data")
ARROW = ">"


@dataclass(frozen=True, slots=True)
class LiteralSource:
    """What is known of one alert's series at `now_ns`. Raises InputError, with `path:line`, on series that do not suit
    the alert.
    """

    alert: Alert
    test: AlertTest
    path: str
    now_ns: int

    def observe(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        found: dict[Series, tuple[Observed, ...]] = {}
        for given in self.test.series:
            if self.alert.id in given.alerts:
                steps = self._known(given)
                found[self.key(given)] = tuple(self._observed(query, given, steps, window) for window in windows)
        return found

    @property
    def end_ns(self) -> int:
        """The end of the longest series of the alert."""
        longest = max((len(s.steps) for s in self.test.series if self.alert.id in s.alerts), default=0)
        return self.test.start_ns + longest * self.test.every.ns

    def key(self, given: TestSeries) -> Series:
        if given.labels.keys() != set(self.alert.by):
            wanted = ", ".join(self.alert.by) or "none, for it has no `by`"
            raise self._fault(given.line, f"labels of a series of {self.alert.id!r} are: {wanted}")
        return tuple((name, given.labels[name]) for name in self.alert.by)

    def _known(self, given: TestSeries) -> list[Step]:
        steps = list(given.steps)
        for late in sorted(given.late, key=lambda entry: entry.at_ns):
            index, rest = divmod(late.step_ns - self.test.start_ns, self.test.every.ns)
            if rest or not 0 <= index < len(steps):
                raise self._fault(late.line, "no step of the series begins at that time")
            if late.at_ns <= self.now_ns:
                steps[index] = late.holds
        return steps

    def _observed(self, query: Query, given: TestSeries, steps: Sequence[Step], window: Window) -> Observed:
        signal = SIGNALS[query.signal]
        inside = self._inside(given, steps, window)
        before = None
        if query.against == "previous":
            earlier = Windows(self.alert.window).back(window, query.period)
            before = self._inside(given, steps, earlier) if earlier.start_ns >= self.test.start_ns else None
        elif query.against is not None and given.reference is not None:
            before = [given.reference]
        name = f"the {query.against}" if query.against else ""
        if signal.kind == "test":
            return self._drift(signal, given, window, (before or [], inside), name)
        seen = self._sum(signal, given, inside, window)
        if before is None:
            return seen
        was = self._sum(signal, given, before, window)
        return replace(seen, reference=Reference(was.value, was.n, was.numerator, name))

    def _inside(self, given: TestSeries, steps: Sequence[Step], window: Window) -> list[Step]:
        """The steps that fill a window; where a series is shorter than others, nothing was seen."""
        every = self.test.every.ns
        first, rest = divmod(window.start_ns - self.test.start_ns, every)
        last, more = divmod(window.end_ns - self.test.start_ns, every)
        if rest or more:
            spec = self.alert.window
            said = f"steps of {self.test.every} do not fill a window of {spec.size} by {spec.slide}"
            raise self._fault(given.line, said)
        return [*steps[first:last]]

    def _sum(self, signal: Signal, given: TestSeries, steps: Sequence[Step], window: Window) -> Observed:
        seen = [step for step in steps if not step.gap]
        if any(step.value is None for step in seen):
            raise self._fault(given.line, f"counts by name say nothing of {signal.name}")
        observe = {"ratio": self._ratio, "count": self._count}.get(signal.kind, self._quantile)
        return observe(signal, given, seen, window)

    def _ratio(self, signal: Signal, given: TestSeries, steps: Sequence[Step], window: Window) -> Observed:
        if any(step.n is None for step in steps):
            raise self._fault(given.line, f"{signal.name} is a ratio: write numerator/n")
        numerator, n = round(sum(s.value or 0 for s in steps)), sum(s.n or 0 for s in steps)
        return Observed(window.start_ns, window.end_ns, numerator / n if n else None, n, numerator)

    def _count(self, signal: Signal, given: TestSeries, steps: Sequence[Step], window: Window) -> Observed:
        of_n = signal.name in _OF_N
        total = sum((s.n if of_n and s.n is not None else s.value) or 0 for s in steps)
        return Observed(window.start_ns, window.end_ns, float(total), round(total))

    def _quantile(self, signal: Signal, given: TestSeries, steps: Sequence[Step], window: Window) -> Observed:
        if len(steps) > 1:
            said = f"{signal.name} cannot be added up: let a window be one step long"
            raise self._fault(given.line, said)
        if not steps:
            return Observed(window.start_ns, window.end_ns, None, 0)
        n = steps[0].n if steps[0].n is not None else max(1, self.alert.min_count)
        return Observed(window.start_ns, window.end_ns, steps[0].value if n else None, n)

    def _drift(
        self, signal: Signal, given: TestSeries, window: Window, sides: tuple[Sequence[Step], Sequence[Step]], name: str
    ) -> Observed:
        was, now = (self._counts(signal, given, side) for side in sides)
        if signal.name == "drift_tools":
            return tools_drifted(window, was, now, name)
        before, after = ({self._cell(given, k): n for k, n in side.items()} for side in (was, now))
        return confusion_drifted(window, before, after, name)

    def _counts(self, signal: Signal, given: TestSeries, steps: Sequence[Step]) -> Counter[str]:
        total: Counter[str] = Counter()
        for step in steps:
            if step.counts is None and not step.gap:
                raise self._fault(given.line, f"{signal.name} is a test of counts: write {{NAME: COUNT}}")
            total.update(step.counts or {})
        return total

    def _cell(self, given: TestSeries, name: str) -> Cell:
        expected, arrow, observed = (part.strip() for part in name.partition(ARROW))
        if not (expected and arrow and observed):
            raise self._fault(given.line, f"{name!r} is no cell: write {{EXPECTED {ARROW} OBSERVED: COUNT}}")
        return Cell(expected, observed)

    def _fault(self, line: int, message: str) -> InputError:
        return InputError(message, where=f"{self.path}:{line}")
