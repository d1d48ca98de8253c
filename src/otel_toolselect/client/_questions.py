"""What callers say, as requests. Raises UsageError for what can be no question."""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.errors import UsageError
from otel_toolselect.model.alerting import Scope
from otel_toolselect.rpc import encoding
from otel_toolselect.rpc.gen import confusion_service_pb2 as confusion
from otel_toolselect.rpc.gen import evaluation_service_pb2 as evaluation
from otel_toolselect.rpc.gen import verdict_service_pb2 as verdicts
from otel_toolselect.rpc.words import STATUS


def expectations(suite: str | None, text: str | None, file_name: str) -> evaluation.Expectations:
    if (suite is None) == (text is None):
        raise UsageError("say one of: suite=NAME, for one that the server judges by; text=..., for one of your own")
    if suite is not None:
        return evaluation.Expectations(name=suite)
    return evaluation.Expectations(text=evaluation.SuiteText(text=text or "", file_name=file_name))


def run(run_id: str | None, trace_id: str | None) -> evaluation.RunReference:
    if (run_id is None) == (trace_id is None):
        raise UsageError("say one of: run_id=..., trace_id=...")
    if run_id is not None:
        return evaluation.RunReference(run_id=run_id)
    return evaluation.RunReference(trace_id=trace_id or "")


def label(
    which: evaluation.RunReference, expected: Sequence[str], strange: bool, store: bool, labeller: str, note: str
) -> evaluation.EvaluateLabelRequest:
    if isinstance(expected, str):
        raise UsageError("expected is a list of names")
    return evaluation.EvaluateLabelRequest(
        run=which, expected=expected, allow_not_offered=strange, store=store, labeller=labeller, note=note
    )


def windows(
    window: str,
    slide: str | None,
    zone: str,
    since_ns: int | None,
    until_ns: int | None,
    scope: Scope,
    by: Sequence[str],
) -> confusion.GetConfusionRequest:
    if isinstance(by, str):
        raise UsageError("by is a list of names")
    return confusion.GetConfusionRequest(
        scope=encoding.scope(scope),
        by=by,
        window=window,
        slide=slide or "",
        time_zone=zone,
        since_unix_nano=since_ns,
        until_unix_nano=until_ns,
    )


def stream(
    cursor: str | None, from_beginning: bool, suites: Sequence[str], agents: Sequence[str], statuses: Sequence[str]
) -> verdicts.StreamVerdictsRequest:
    unknown = [word for word in statuses if word not in STATUS]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is none of pass, fail, n/a, excluded, needs_review")
    return verdicts.StreamVerdictsRequest(
        cursor=cursor or "",
        start=verdicts.STREAM_START_BEGINNING if from_beginning else verdicts.STREAM_START_NOW,
        suites=suites,
        agents=agents,
        statuses=[STATUS.number(word) for word in statuses],
    )
