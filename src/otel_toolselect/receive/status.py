"""Errors to answers, the one place: gRPC code, HTTP status, and whether the sender may try again.

Source: OTLP specification. Over HTTP only 429, 502, 503 and 504 are retried; over gRPC RESOURCE_EXHAUSTED
is retried only when it carries a RetryInfo, so that the same code without one is final.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.errors import (
    DecodeError,
    EnvironmentProblem,
    InputError,
    NotFoundError,
    OverloadError,
    Problem,
    StoreError,
    SuiteError,
    TooLargeError,
    UsageError,
)
from otel_toolselect.receive.counters import OTHER

# numbers of google.rpc.Code, which are those of gRPC
INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED = 3, 4, 5, 7, 8
UNIMPLEMENTED, INTERNAL, UNAVAILABLE, UNAUTHENTICATED = 12, 13, 14, 16


class UnsupportedTypeError(DecodeError):
    """A content type or content coding that OTLP/HTTP does not have here."""


class NotAllowedError(InputError):
    """No token, or not the right one."""


class ForbiddenError(InputError):
    """Known, but not for this."""


class UnknownMethodError(InputError):
    """A gRPC method that is not served here."""


class TooManyError(TooLargeError):
    """More spans or log records in one request than the limit, or more resources or scopes; smaller requests pass."""


class LargeHeadError(TooLargeError):
    """The head of an HTTP request."""


class SlowBodyError(InputError):
    """A body that was not there in time."""


class SlowAnswerError(InputError):
    """What was asked for takes longer than it may."""


class QuotaError(OverloadError):
    """More than `sender`, the name of a token, may send for now."""

    def __init__(self, message: str, *, sender: str, retry_after_s: float) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.sender = sender


class BusyError(OverloadError):
    """Too much is under way at the same time."""


class BrokenSpoolError(OverloadError):
    """The disk does not take what should be kept, for now."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One error as both protocols say it. `retry_after_s` None: sending the same again is of no use.

    `reason`: one word of `counters.REFUSALS`.
    """

    grpc_code: int
    http_status: int
    message: str
    retry_after_s: float | None = None
    reason: str = OTHER
    problems: tuple[Problem, ...] = ()
    """Mistakes in a file of the request, each with its position."""


# The first row that an error is an instance of holds: special cases before general ones.
_TABLE: tuple[tuple[type[Exception], int, int, str], ...] = (
    (QuotaError, RESOURCE_EXHAUSTED, 429, "quota"),
    (BusyError, RESOURCE_EXHAUSTED, 429, "too_busy"),
    (BrokenSpoolError, RESOURCE_EXHAUSTED, 429, "spool_broken"),
    (OverloadError, RESOURCE_EXHAUSTED, 429, "spool_full"),
    (EnvironmentProblem, UNAVAILABLE, 503, "stopping"),
    (NotAllowedError, UNAUTHENTICATED, 401, "unauthenticated"),
    (ForbiddenError, PERMISSION_DENIED, 403, "forbidden"),
    (UnknownMethodError, UNIMPLEMENTED, 404, OTHER),
    (SlowBodyError, DEADLINE_EXCEEDED, 408, "too_slow"),
    (SlowAnswerError, DEADLINE_EXCEEDED, 504, OTHER),
    (NotFoundError, NOT_FOUND, 404, OTHER),
    (LargeHeadError, RESOURCE_EXHAUSTED, 431, "too_large"),
    (TooManyError, RESOURCE_EXHAUSTED, 413, "too_many"),
    (TooLargeError, RESOURCE_EXHAUSTED, 413, "too_large"),
    (UnsupportedTypeError, INVALID_ARGUMENT, 415, "unsupported_type"),
    (SuiteError, INVALID_ARGUMENT, 400, OTHER),
    (InputError, INVALID_ARGUMENT, 400, "not_otlp"),
    (UsageError, INVALID_ARGUMENT, 400, OTHER),
)


def failure_of(error: Exception) -> Failure:
    """The answer to an error. Errors that are not ours are told without their text: it may hold content."""
    if isinstance(error, StoreError):
        return _failure_of_store(error)
    for kind, grpc_code, http_status, reason in _TABLE:
        if isinstance(error, kind):
            problems = error.problems if isinstance(error, SuiteError) else ()
            return Failure(grpc_code, http_status, str(error), _retry_after_s(error), reason, problems)
    return Failure(INTERNAL, 500, f"internal error ({type(error).__name__})", reason="internal")


def _failure_of_store(error: StoreError) -> Failure:
    """Without its text, which may quote values."""
    if error.retryable:
        return Failure(UNAVAILABLE, 503, "the store does not answer at the moment", _STORE_RETRY_S, OTHER)
    return Failure(INTERNAL, 500, "the store refuses the query", reason="internal")


_STORE_RETRY_S = 1.0


def _retry_after_s(error: Exception) -> float | None:
    if isinstance(error, OverloadError):
        return error.retry_after_s
    return 1.0 if isinstance(error, EnvironmentProblem) else None
