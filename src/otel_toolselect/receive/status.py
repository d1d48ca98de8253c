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
    OverloadError,
    TooLargeError,
)
from otel_toolselect.receive.counters import OTHER

# numbers of google.rpc.Code, which are those of gRPC
INVALID_ARGUMENT, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE, UNAUTHENTICATED = 3, 8, 13, 14, 16


class UnsupportedTypeError(DecodeError):
    """A content type or content coding that OTLP/HTTP does not have here."""


class NotAllowedError(InputError):
    """No token, or not the right one."""


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


def failure_of(error: Exception) -> Failure:
    """The answer to an error. Errors that are not ours are told without their text: it may hold content."""
    if isinstance(error, OverloadError):
        return Failure(RESOURCE_EXHAUSTED, 429, str(error), error.retry_after_s, reason="spool_full")
    if isinstance(error, EnvironmentProblem):
        return Failure(UNAVAILABLE, 503, str(error), 1.0, reason="stopping")
    if isinstance(error, NotAllowedError):
        return Failure(UNAUTHENTICATED, 401, str(error), reason="unauthenticated")
    if isinstance(error, TooLargeError):
        return Failure(RESOURCE_EXHAUSTED, 413, str(error), reason="too_large")
    if isinstance(error, UnsupportedTypeError):
        return Failure(INVALID_ARGUMENT, 415, str(error), reason="unsupported_type")
    if isinstance(error, InputError):
        return Failure(INVALID_ARGUMENT, 400, str(error), reason="not_otlp")
    return Failure(INTERNAL, 500, f"internal error ({type(error).__name__})", reason="internal")
