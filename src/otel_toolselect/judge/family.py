"""Which run stands inside which: sub-agents and hand-offs, and the request that all of them serve."""

from __future__ import annotations

from collections.abc import Iterable

from otel_toolselect.model.runs import Run


class Family:
    """Parents, cases and requests of runs."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._parents: dict[str, str] = {}
        self._requests: dict[str, str] = {}
        self._cases: dict[str, set[str | None]] = {}
        for run in runs:
            self._cases.setdefault(run.run_id, set()).add(run.case_id)
            if run.request is not None:  # of two forms of one run the same one counts, whatever the order
                self._requests[run.run_id] = max(run.request, self._requests.get(run.run_id, ""))
            if run.parent_run_id is not None:
                self._parents[run.run_id] = run.parent_run_id

    def names_own_case(self, run: Run) -> bool:
        """A case that the parent does not name: attributes of a whole process reach nested runs too."""
        return run.case_id is not None and run.case_id not in self._cases.get(str(run.parent_run_id), ())

    def request_of(self, run: Run) -> str | None:
        """The request of the outermost run around a run."""
        current, seen = run.run_id, {run.run_id}
        while current in self._parents and self._parents[current] not in seen:
            current = self._parents[current]
            seen.add(current)
        return self._requests.get(current)
