"""Runs as policies read them, each read once however much is asked of it. These live as long as one judging."""

from __future__ import annotations

from otel_toolselect.model.runs import Run
from otel_toolselect.rules import Policy, RunView
from otel_toolselect.rules.view import Course


class Courses:
    """What runs did, whatever policies make of it: for the views of all of them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Run, Course]] = {}

    def of(self, run: Run) -> Course:
        found = self._known.get(id(run))  # the run is kept beside, so that no other gets its id
        if found is None:
            found = self._known[id(run)] = run, Course(run)
        return found[1]


class Views:
    """Runs as one policy reads them. `courses` are for callers that have several policies read the same runs."""

    def __init__(self, policy: Policy, courses: Courses | None = None) -> None:
        self._policy = policy
        self._courses = courses or Courses()
        self._known: dict[int, RunView] = {}

    def of(self, run: Run) -> RunView:
        found = self._known.get(id(run))  # the view holds its run, so that no other gets its id
        if found is None:
            found = self._known[id(run)] = RunView(run, self._policy, self._courses.of(run))
        return found
