"""Wiring of labels on production traffic: the sample of a day, giving labels, and what follows for decisions (R47).

Beside `app`, which it builds on. Commands call it and print what it returns. A label is written before the decisions
that rest on it: when something fails in between, `Desk.refresh` makes up for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from otel_toolselect import app
from otel_toolselect.app.audit import ON_THE_COMMAND_LINE, Act, Origin, note
from otel_toolselect.config import Settings
from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.model.decisions import LABELS, Decision
from otel_toolselect.model.labels import Frame, Label, Queue, Source
from otel_toolselect.model.runs import NO_CALL_LABELS, Run

if TYPE_CHECKING:
    from otel_toolselect.judge.labelling import Labelling
    from otel_toolselect.rules import Policy
    from otel_toolselect.store import Store

_DAY_NS = 86_400 * 10**9
RUNS_PER_REFRESH = 500
NO_RUNS = "runs are kept once they are judged: `toolselect serve` with [live] rules or suites, or `toolselect eval`"


def policy_of(path: str) -> Policy:
    """The policy of a suite or rule file; "" is the empty one. Raises InputError."""
    from otel_toolselect.rules import Policy, load_suite
    from otel_toolselect.rules.loader import read_text
    from otel_toolselect.rules.rulefiles import load_rules
    from otel_toolselect.rules.sniffing import kind_of_file

    if not path:
        return Policy()
    return load_rules(path).policy if kind_of_file(read_text(path), path) == "rules" else load_suite(path).policy


def labelling(store: Store, settings: Settings) -> Labelling:
    from otel_toolselect.judge.labelling import Labelling

    return Labelling(policy_of(settings.labels.policy), store.labels.of_runs)


class Desk:
    """Where labels are given. `clock`: nanoseconds since the epoch. `origin`: who gives them, for the audit log."""

    def __init__(
        self, store: Store, settings: Settings, clock: Any = time.time_ns, origin: Origin = ON_THE_COMMAND_LINE
    ) -> None:
        self._store = store
        self._origin = origin
        self._settings = settings
        self._clock = clock
        self._frames: dict[str, Frame] = {}
        self.labelling = labelling(store, settings)

    # what is there

    def run(self, prefix: str) -> Run:
        """The run whose id, or whose trace id, begins so. Raises UsageError when none or several fit."""
        found = self._store.labels.find(prefix)
        if len(found) > 1 and prefix not in found:
            raise UsageError(f"{prefix!r} fits several runs; write more of the id ({', '.join(found[:5])})")
        runs = self.runs([prefix if prefix in found else found[0]]) if found else []
        if not runs:
            raise UsageError(f"the store holds no run or trace that begins with {prefix!r}; {NO_RUNS}")
        return runs[0]

    def runs(self, run_ids: Sequence[str]) -> list[Run]:
        return list(self._store.runs(run_ids=run_ids))

    def frame(self, day: str) -> Frame:
        """The sample of a UTC day, YYYY-MM-DD. Drawn once for the life of the desk."""
        from otel_toolselect.rules import MIN_CONFIDENCE
        from otel_toolselect.store import Sampling

        if day not in self._frames:
            wanted = self._settings.labels
            sampling = Sampling(wanted.seed, wanted.per_stratum, wanted.random, MIN_CONFIDENCE)
            first = bounds(day)[0]
            self._frames[day] = self._store.labels.frame(first, first + _DAY_NS, sampling, day)
        return self._frames[day]

    def queue(self, day: str, by: str = "") -> Queue:
        """What a labeller (or, without a name, anybody) has not labelled yet: failures first, then what sources
        disagree on, then what is unsure, then the sample of each tool, then that of all.
        """
        frame = self.frame(day)
        drawn = {one.run_id: one for one in frame.drawn}
        people = [x for x in self._store.labels.of_runs(sorted(drawn)) if x.source == "person"]
        done = {x.run_id for x in people if not by or x.labeller == by}
        first, last = bounds(day)
        disputed = self._disputed(sorted(drawn), first, last)
        left = [one for one in frame.drawn if one.run_id not in done or (not by and one.run_id in disputed)]
        left.sort(key=lambda one: 0 if one.why == "failure" else 1 if one.run_id in disputed else 2)
        return Queue(frame, tuple(left), frozenset(disputed))

    def _disputed(self, run_ids: Sequence[str], first_ns: int, last_ns: int) -> set[str]:
        """Runs whose first action one source finds right and another wrong."""
        said: dict[str, set[bool]] = {}
        for label in self._store.labels.of_runs(run_ids):
            said.setdefault(label.run_id, set()).add(label.accepts)
        for decision in self._store.labels.decisions(run_ids, first_ns, last_ns):
            selection = decision.layers.get("selection")
            if decision.suite == LABELS and selection in ("pass", "fail"):
                said.setdefault(decision.run_id, set()).add(selection == "pass")
        return {run_id for run_id, opinions in said.items() if len(opinions) > 1}

    # what is given

    def names(self, run: Run) -> tuple[str, ...]:
        """First actions that a label of this run can name without more ado."""
        policy = self.labelling.policy
        offered = [policy.canonical(name) for name in run.tools_offered or ()]
        called = [policy.canonical(call.name) for call in run.calls]
        return tuple(dict.fromkeys([*offered, *called, *policy.tools]))

    def checked(
        self, run: Run, expected: Iterable[str], *, strange: bool = False, way_out: str = "--not-offered"
    ) -> tuple[str, ...]:
        """Canonical names of expected actions. `strange`: also of tools that nobody has heard of, for which `way_out`
        asks. Raises UsageError.
        """
        from otel_toolselect.rules.problems import suggest

        policy, found = self.labelling.policy, []
        for name in expected:
            canonical = policy.canonical(name.strip())
            known = self.names(run)
            if canonical not in known and canonical not in NO_CALL_LABELS and not strange:
                near = suggest(canonical, [*known, *NO_CALL_LABELS])
                lacks = "records no tools" if run.tools is None else f"was not offered {canonical!r}"
                hint = f"; {near}" if near else ""
                raise UsageError(f"run {run.run_id} {lacks}{hint}; {way_out} names {canonical!r} anyway")
            found.append(canonical)
        return tuple(dict.fromkeys(found))

    def label(
        self,
        run: Run,
        by: str,
        expected: Sequence[str],
        *,
        note: str = "",
        source: Source = "person",
        record: dict[str, Any] | None = None,
        at_ns: int | None = None,
    ) -> Label:
        """A label with everything that was true of the run when it was given. Nothing is kept yet."""
        from otel_toolselect.rules import RunView

        drawn = next((one for one in self.frame(day_of(run.start_ns)).drawn if one.run_id == run.run_id), None)
        return Label(
            run_id=run.run_id,
            trace_id=run.trace_id,
            source=source,
            labeller=by,
            expected=tuple(expected),
            first_action=RunView(run, self.labelling.policy).first_action,
            at_ns=self._clock() if at_ns is None else at_ns,
            note=note,
            start_ns=run.start_ns,
            agent=run.agent,
            model=run.model,
            prompt_version=run.prompt_version,
            catalog_id=run.catalog_id,
            stratum=drawn.stratum if drawn is not None else "",
            chance=drawn.chance if drawn is not None else None,
            record=record or {},
        )

    def keep(self, labels: Sequence[Label]) -> int:
        """Write those that say something new, and judge their runs again; how many those are. Labelling twice in the
        same way changes nothing.
        """
        standing = {(x.run_id, x.source, x.labeller): x for x in self._store.labels.of_runs([x.run_id for x in labels])}
        changed = [x for x in labels if _differs(x, standing.get((x.run_id, x.source, x.labeller)))]
        note(self._store, self._origin, [_act("label", x) for x in changed if x.source == "person"], self._clock)
        self._store.labels.write(changed)
        self.refresh([x.run_id for x in changed])
        return len(changed)

    def withdraw(self, run: Run, by: str) -> None:
        """Take a person's label back. Raises UsageError when there is none."""
        found = [x for x in self._store.labels.of_runs([run.run_id]) if x.source == "person" and x.labeller == by]
        if not found:
            raise UsageError(f"{by!r} has no label on run {run.run_id}")
        note(self._store, self._origin, [_act("label withdrawn", x) for x in found], self._clock)
        self._store.labels.write([replace(x, withdrawn=True, at_ns=self._clock()) for x in found])
        self.refresh([run.run_id])

    def refresh(self, run_ids: Iterable[str]) -> int:
        """Make the decisions on these runs follow their labels; how many decisions there are."""
        ids, count = sorted(set(run_ids)), 0
        for start in range(0, len(ids), RUNS_PER_REFRESH):
            runs = self.runs(ids[start : start + RUNS_PER_REFRESH])
            parents = self.runs([run.parent_run_id for run in runs if run.parent_run_id])
            wanted = {run.run_id for run in runs}
            decisions = [d for d in self.labelling.decisions([*parents, *runs]) if d.run_id in wanted]
            decisions = self._with_tenants(runs, decisions)
            self._store.replace_judged([LABELS], runs, [], decisions)
            count += len(decisions)
        return count

    def _with_tenants(self, runs: Sequence[Run], decisions: Sequence[Decision]) -> list[Decision]:
        """Kept runs have no attributes: whose they are is what was decided on them when their spans were read."""
        if not decisions:
            return []
        first, last = min(run.start_ns for run in runs), max(run.start_ns for run in runs) + 1
        standing = self._store.labels.decisions([run.run_id for run in runs], first, last)
        tenants = {d.run_id: d.tenant for d in standing if d.tenant}
        return [replace(d, tenant=d.tenant or tenants.get(d.run_id, "")) for d in decisions]

    def ask_judge(self, day: str, limit: int) -> tuple[int, int]:
        """Let the yes/no judge label what is drawn of a day and has no answer yet: (asked, answered).

        Raises EnvironmentProblem when no judge is configured. Its limits of calls and time hold for the whole.
        """
        from otel_toolselect.judge.acceptance import opinion

        drawn = [one.run_id for one in self.frame(day).drawn]
        has_answer = {x.run_id for x in self._store.labels.of_runs(drawn) if x.source == "judge"}
        wanted = [run_id for run_id in drawn if run_id not in has_answer][:limit]
        with app.asker_of(self._settings.judge) as asker:
            if asker is None:
                raise EnvironmentProblem("no judge is configured: set judge.url and judge.model (docs/rule-tests.md)")
            labels = []
            runs = {run.run_id: run for run in self.runs(wanted)}
            for run_id in wanted:
                run = runs.get(run_id)
                said = opinion(run, asker, self.labelling.policy, self._settings.labels.alternatives) if run else None
                if run is not None and said is not None:
                    labels.append(self.label(run, said.model, said.expected, source="judge", record=said.record))
        self.keep(labels)
        return len(wanted), len(labels)


def _act(action: str, label: Label) -> Act:
    """What the audit log says of a label; its note is content, and stays with the label."""
    detail = {"labeller": label.labeller, "expected": list(label.expected), "first_action": label.first_action}
    return label.labeller, action, label.run_id, detail


def _differs(label: Label, standing: Label | None) -> bool:
    if standing is None:
        return True
    return (label.expected, label.note, label.first_action) != (standing.expected, standing.note, standing.first_action)


def day_of(start_ns: int) -> str:
    """The UTC day of a time, YYYY-MM-DD."""
    return datetime.fromtimestamp(min(start_ns, 253_402_300_799 * 10**9) // 10**9, UTC).date().isoformat()


def bounds(day: str) -> tuple[int, int]:
    """Start and end of a UTC day, in nanoseconds."""
    first = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 10**9
    return first, first + _DAY_NS


def named_day(text: str, now_ns: int) -> str:
    """`today`, `yesterday` or YYYY-MM-DD. Raises UsageError."""
    today = datetime.fromtimestamp(now_ns // 10**9, UTC).date()
    if text in ("today", "yesterday"):
        return (today - timedelta(days=int(text == "yesterday"))).isoformat()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise UsageError(f"{text!r} is no day; write today, yesterday or 2026-01-31") from error


def consensus_of(store: Store, run_id: str) -> Label | None:
    """What people say of a run, taken together; None when nobody has labelled it."""
    from otel_toolselect.judge.labelling import consensus

    return consensus(x for x in store.labels.of_runs([run_id]) if x.source == "person")
