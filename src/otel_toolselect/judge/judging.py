"""The loop: runs to cases, checks over each run, findings to verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from otel_toolselect.judge.exclusion import exclusion
from otel_toolselect.judge.family import Family
from otel_toolselect.judge.identity import Matcher, matcher_of
from otel_toolselect.judge.layers import exclude, fold
from otel_toolselect.judge.taxonomy import CRASHED, FAILURES, classify
from otel_toolselect.judge.views import Views
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import CallScore, Cell, Finding, RunVerdict, SuiteVerdicts
from otel_toolselect.rules import Case, RunView, Suite
from otel_toolselect.rules.asking import Asker, settle


def judge(runs: Iterable[Run], suite: Suite, asker: Asker | None = None) -> SuiteVerdicts:
    """Verdicts of all runs that belong to a case of the suite, in order of case, attempt and run id.

    A run that comes twice counts once; of two different runs under one id the more telling one is kept, the same one in
    whatever order they come. Nested runs without a case of their own are neither judged nor counted as unmatched.
    `asker` answers questions about free text; without it what hangs on such a question is needs_review.
    """
    verdicts, unmatched = verdicts_of(runs, suite, Views(suite.policy), asker)
    seen = {v.case_id for v in verdicts}
    return SuiteVerdicts(
        suite=suite.name,
        runs=tuple(verdicts),
        cases=tuple(case.id for case in suite.cases),
        unmatched_runs=unmatched,
        cases_without_run=tuple(case.id for case in suite.cases if case.id not in seen),
    )


def verdicts_of(
    runs: Iterable[Run], suite: Suite, views: Views, asker: Asker | None = None
) -> tuple[list[RunVerdict], int]:
    """The verdicts of `judge`, and how many runs belong to no case; `views` are those of the suite's policy. Takes no
    longer for a suite of many cases, as those are worked out once.
    """
    matcher = matcher_of(suite)
    verdicts: dict[str, RunVerdict] = {}
    unmatched: set[str] = set()
    listed = tuple(runs)
    for run in listed:
        if run.parent_run_id is None:
            case = matcher.case_of(run)
            if case is None:
                unmatched.add(run.run_id)
            else:
                _take(views.of(run), case, matcher, verdicts, asker)
    nested = [r for r in listed if r.parent_run_id is not None and (matcher.by_agent or r.case_id is not None)]
    family = Family(listed if nested else ())
    for run in nested:
        case = matcher.case_of(run) if family.names_own_case(run) else None
        case = case or (None if run.case_id else matcher.nested_case_of(run, family.request_of(run)))
        if case is not None:
            _take(views.of(run), case, matcher, verdicts, asker)
    place = matcher.place
    ordered = sorted(verdicts.values(), key=lambda v: (place[v.case_id], v.attempt or 0, v.run_id))
    return ordered, len(unmatched - verdicts.keys())


def _take(view: RunView, case: Case, matcher: Matcher, verdicts: dict[str, RunVerdict], asker: Asker | None) -> None:
    verdict = judge_view(view, case, matcher.suite, asker)
    before = verdicts.get(verdict.run_id)
    if before is None or (before != verdict and telling(verdict) > telling(before)):
        verdicts[verdict.run_id] = verdict


def telling(verdict: RunVerdict) -> tuple[bool, int, str]:
    """How much a verdict rests on: of two under one run id the greater is kept, whatever the order they come in."""
    return (verdict.excluded != "incomplete", len(verdict.findings), repr(verdict))


def judge_run(run: Run, case: Case, suite: Suite, asker: Asker | None = None) -> RunVerdict:
    """The verdict of one run against one case."""
    return judge_view(RunView(run, suite.policy), case, suite, asker)


def judge_view(view: RunView, case: Case, suite: Suite, asker: Asker | None = None) -> RunVerdict:
    """`judge_run` for a run that was read under the suite's policy before: what one case worked out serves the next."""
    run = view.run
    view.asker, view.asking = asker, None
    deciding, beside = _evaluated(case, view)
    deciding, scores = _right_calls(deciding, case, view)
    out = exclusion(view, case, deciding)
    layers = fold(deciding) if out is None else exclude(out[1])
    findings = (*deciding, *beside)
    failure = classify(view, case, layers, findings, out[0] if out is not None else None)
    return RunVerdict(  # by place, as decisions are made (see there)
        run.run_id,
        run.trace_id,
        suite.name,
        case.id,
        view.first_action,
        view.observed_class,
        layers,
        run.parent_run_id,
        run.attempt,
        run.label,
        run.request,
        case.risk,
        case.tags,
        _cells(case, view) if out is None and case.expect.labelled else (),
        scores if out is None else (),
        findings,
        out[0] if out is not None else None,
        failure,
        FAILURES[failure].owner if failure is not None else None,
        suite.policy.version,
        run.model,
        run.prompt_version,
        run.catalog_id,
        run.start_ns,
    )


def _evaluated(case: Case, view: RunView) -> tuple[list[Finding], list[Finding]]:
    """What the checks saw: findings that decide layers, and those beside them.

    A crash of a check is a record of that check, never the end of the judgement.
    """
    deciding: list[Finding] = []
    beside: list[Finding] = []
    for check in case.expect.checks:
        found: Sequence[Finding]
        try:
            found = check.evaluate(view) if view.asking is None else ()
            if view.asking is not None:  # a question came up, now or earlier: what hangs on it has to be settled
                found = settle(view, partial(check.evaluate, view))
        except Exception as error:  # noqa: BLE001 - whatever a check or a plug-in raises belongs into the record
            said = f"the check {check.name} crashed: {type(error).__name__}: {error}"[:300]
            evidence = {CRASHED: type(error).__name__, "run": view.run.run_id, "at": _place(error)}
            found = (Finding(check.name, check.layer, "needs_review", said, evidence),)
        if check.decides:
            deciding += found
        else:
            beside += found
    return deciding, beside


def _place(error: BaseException) -> str:
    """Where an exception was raised, as module and line, without the paths of this machine."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return "" if frame is None else f"{frame.tb_frame.f_globals.get('__name__', '?')}:{frame.tb_lineno}"


def _cells(case: Case, view: RunView) -> tuple[Cell, ...]:
    found: list[Cell] = []
    for check in case.expect.labelled:
        try:
            found.extend(check.cells(view))
        except Exception:  # noqa: BLE001, S112 - the same crash is already on record from `evaluate`
            continue
    return tuple(found)


def _right_calls(findings: list[Finding], case: Case, view: RunView) -> tuple[list[Finding], tuple[CallScore, ...]]:
    """Arguments are judged on calls whose tool was right (R25): other calls' findings go, and each such call is scored.

    A call passes when no check of its arguments failed; a call whose arguments are not known has no score.
    """
    concerned = [f for f in findings if f.layer == "arguments" and f.evidence.get("calls")]
    if not concerned:
        return findings, ()
    right = {c.seq: c.name for c in view.calls if case.expect.is_right(c)}
    passed: dict[int, bool] = {}
    beside: set[int] = set()
    for finding in concerned:
        seq = finding.evidence["calls"][0]["call"]  # one call each, see `kinds._arguments`
        if seq not in right:
            beside.add(id(finding))
        elif finding.status == "fail":
            passed[seq] = False
        elif finding.status == "pass":
            passed.setdefault(seq, True)
    kept = [f for f in findings if id(f) not in beside] if beside else findings
    return kept, tuple([_score(seq, right[seq], passed[seq]) for seq in sorted(passed)])


@lru_cache(maxsize=16_384)
def _score(seq: int, name: str, passed: bool) -> CallScore:
    return CallScore(seq, name, passed)
