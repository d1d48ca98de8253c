"""Which case a run belongs to (design section 4, last paragraph).

A run of another suite (its `suite` is set and differs) is not ours. A run that names a case belongs to it, or, when the
suite has no such case, to none. Else the exact request decides, blanks at its ends aside; when several cases have that
request, those whose pinned catalog or tools are what the run was offered are preferred, and if that still leaves cases
with different expectations the run belongs to none: guessing would hide a contradiction in the suite.

A nested run (`parent_run_id` set) belongs to its parent: it is matched only when it names a case of its own, one that
its parent does not name (attributes of a whole process reach nested runs too), or when a case asks for its `agent` and
has the request of the outermost run around it. A case that names an agent is for that agent's runs alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.model.runs import Run
from otel_toolselect.rules import Case, Suite


class Matcher:
    """Cases of one suite by id and by request, looked up in constant time."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.place = {case.id: i for i, case in enumerate(suite.cases)}
        self._ids = {case.id: case for case in suite.cases}
        self._requests: dict[tuple[str | None, str], list[Case]] = {}
        for case in suite.cases:
            if case.prompt is not None:
                self._requests.setdefault((case.agent, case.prompt.strip()), []).append(case)
        self.by_agent = any(agent is not None for agent, _ in self._requests)

    def case_of(self, run: Run) -> Case | None:
        if run.suite is not None and run.suite != self.suite.name:
            return None
        if run.case_id is not None:
            return self._ids.get(run.case_id)
        if run.parent_run_id is not None or run.request is None:
            return None
        return self._asked(run, run.request, (run.agent, None))

    def nested_case_of(self, run: Run, request: str | None) -> Case | None:
        """The case about a nested run's agent; `request` is that of the outermost run around it."""
        ours = run.suite is None or run.suite == self.suite.name
        return self._asked(run, request, (run.agent,)) if ours and request is not None and run.agent else None

    def _asked(self, run: Run, request: str, agents: Sequence[str | None]) -> Case | None:
        """By request, a case about the run's own agent before one about any."""
        for agent in agents:
            cases = self._requests.get((agent, request.strip()), [])
            if cases:
                return cases[0] if len(cases) == 1 else self._one_of(cases, run)
        return None

    def _one_of(self, cases: Sequence[Case], run: Run) -> Case | None:
        fitting = [case for case in cases if _pinned_for(case, run, self.suite)] or list(cases)
        if not fitting or any(case.expect != fitting[0].expect for case in fitting[1:]):
            return None
        return fitting[0]


_matchers: dict[int, Matcher] = {}
_SUITES = 16


def matcher_of(suite: Suite) -> Matcher:
    """The suite's matcher, worked out once: a suite of thousands of cases judges a few runs at a time. By identity."""
    found = _matchers.get(id(suite))  # the matcher holds its suite, so that no other gets its id meanwhile
    if found is None or found.suite is not suite:
        if len(_matchers) >= _SUITES:
            _matchers.clear()
        found = _matchers[id(suite)] = Matcher(suite)
    return found


def _pinned_for(case: Case, run: Run, suite: Suite) -> bool:
    """Whether the case pins exactly what the run was offered."""
    if case.catalog is not None:
        return case.catalog == run.catalog_id
    if case.tools is None or run.tools is None:
        return False
    return set(case.tools) == {suite.policy.canonical(t.name) for t in run.tools}
