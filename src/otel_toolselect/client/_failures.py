"""What went wrong at the server, as errors of ours."""

from __future__ import annotations

from typing import Any

import grpc
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status

from otel_toolselect.errors import (
    EnvironmentProblem,
    InputError,
    NotFoundError,
    OverloadError,
    Problem,
    SuiteError,
    TooLargeError,
    ToolselectError,
)


class RefusedError(InputError):
    """No token, not the right one, or one that is not for this."""


class ServerAwayError(EnvironmentProblem):
    """The server, or the store behind it, is out of reach at the moment."""

    retryable = True


class TimedOutError(EnvironmentProblem):
    """The answer took longer than the caller or the server allows."""

    retryable = True


TRANSIENT = (ServerAwayError, TimedOutError, OverloadError)
"""After these a stream goes on by itself."""


def failure_of(error: Any) -> ToolselectError:
    """The error of ours for one of grpc's."""
    code, said = error.code(), error.details() or ""
    status = _status(error)
    retry_s = _retry_s(status)
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        problems = _problems(status)
        return SuiteError(problems) if problems else InputError(said)
    if code is grpc.StatusCode.NOT_FOUND:
        return NotFoundError(said)
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        return RefusedError(said)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return TooLargeError(said) if retry_s is None else OverloadError(said, retry_after_s=retry_s)
    if code is grpc.StatusCode.UNAVAILABLE:
        return ServerAwayError(said)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return TimedOutError(said)
    return EnvironmentProblem(f"the server answered {code.name}: {said}")


def _status(error: Any) -> Status:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return Status.FromString(value)
    return Status()


def _retry_s(status: Status) -> float | None:
    info = RetryInfo()
    for detail in status.details:
        if detail.Unpack(info):
            return float(info.retry_delay.ToNanoseconds() / 1e9)
    return None


def _problems(status: Status) -> list[Problem]:
    """Of the violations those that have a position."""
    found: list[Problem] = []
    bad = BadRequest()
    for detail in status.details:
        if not detail.Unpack(bad):
            continue
        for violation in bad.field_violations:
            parts = violation.field.rsplit(":", 2)
            if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
                found.append(Problem(parts[0], int(parts[1]), int(parts[2]), violation.description))
    return found
