"""Runs as policies read them, each read once however much is asked of it. These live as long as one judging."""

from __future__ import annotations

from otel_toolselect.model.runs import Run
from otel_toolselect.rules import Policy, RunView
from otel_toolselect.rules.view import Looks


class RunLooks:
    """What runs did, and how policies see it: for the views of all of them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Run, Looks]] = {}

    def of(self, run: Run) -> Looks:
        found = self._known.get(id(run))  # the run is kept beside, so that no other gets its id
        if found is None:
            found = self._known[id(run)] = run, Looks(run)
        return found[1]


class Views:
    """Runs as one policy reads them. `looks` are for callers that have several policies read the same runs."""

    def __init__(self, policy: Policy, looks: RunLooks | None = None) -> None:
        self._policy = policy
        self._looks = looks or RunLooks()
        self._known: dict[int, RunView] = {}

    def of(self, run: Run) -> RunView:
        found = self._known.get(id(run))  # the view holds its run, so that no other gets its id
        if found is None:
            found = self._known[id(run)] = RunView(run, self._policy, self._looks.of(run))
        return found
