"""One run out of many, by the beginning of its id."""

from __future__ import annotations

from collections.abc import Iterable

from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import Run


def one_run(runs: Iterable[Run], prefix: str) -> Run:
    """The run whose id, or else whose trace id, begins so; of a trace the run that answers the user.

    Raises UsageError when none or several fit.
    """
    found = list({run.run_id: run for run in runs}.values())
    fitting = [run for run in found if prefix and run.run_id.startswith(prefix)]
    if not fitting:
        fitting = [run for run in found if prefix and run.trace_id.startswith(prefix) and run.parent_run_id is None]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise UsageError(
            f"no run or trace here begins with {prefix!r}; `toolselect triage` and `events --runs` list ids"
        )
    some = ", ".join(sorted(run.run_id for run in fitting)[:5])
    raise UsageError(f"{prefix!r} fits {len(fitting)} runs; write more of the id ({some})")
