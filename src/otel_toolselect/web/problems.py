"""Errors as answers, the one place: an error page for people, application/problem+json (RFC 9457) for programs."""

from __future__ import annotations

import json
import logging
import math
import traceback
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response

from otel_toolselect.errors import (
    EnvironmentProblem,
    InputError,
    OverloadError,
    StoreError,
    TooLargeError,
    ToolselectError,
    UsageError,
)
from otel_toolselect.receive.status import ForbiddenError, NotAllowedError

log = logging.getLogger(__name__)
PROBLEM = "application/problem+json"


class NotFoundError(InputError):
    """Something that is not there, or that the caller may not see: both look the same."""


class RefusedError(InputError):
    """A request that another site may have made in the name of a person."""


class TooOftenError(OverloadError):
    """Too many failures from one address."""


class TooLongError(EnvironmentProblem):
    """An answer that was not there in time."""


@dataclass(frozen=True, slots=True)
class Problem:
    """`detail`: what was wrong and what to do next. `retry_after_s`: when the same may work."""

    status: int
    title: str
    detail: str
    retry_after_s: float | None = None

    @property
    def headers(self) -> dict[str, str]:
        headers = {"cache-control": "no-store"}
        if self.retry_after_s is not None:
            headers["retry-after"] = str(math.ceil(self.retry_after_s))
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return headers


# The first row that an error is an instance of holds: special cases before general ones.
_TABLE: tuple[tuple[type[Exception], int, str], ...] = (
    (NotAllowedError, 401, "Not signed in"),
    (ForbiddenError, 403, "Not allowed"),
    (RefusedError, 403, "Refused"),
    (NotFoundError, 404, "Not found"),
    (TooOftenError, 429, "Too many attempts"),
    (OverloadError, 503, "Busy"),
    (TooLongError, 504, "Too slow"),
    (EnvironmentProblem, 503, "Out of reach"),
    (TooLargeError, 413, "Too large"),
    (InputError, 400, "Cannot be used"),
    (UsageError, 400, "Cannot be used"),
)
_OUT_OF_TIME = ("TIMEOUT_EXCEEDED", "Code: 159")


def problem_of(error: Exception) -> Problem:
    """Errors that are not ours are told without their text, as it may hold content; the log has where they arose."""
    if isinstance(error, HTTPException):
        words = {404: "there is no such page", 405: "this cannot be done here"}
        return Problem(error.status_code, "Not found" if error.status_code == 404 else "Not possible",
                       words.get(error.status_code, str(error.detail)))  # fmt: skip
    if isinstance(error, StoreError) and any(word in str(error) for word in _OUT_OF_TIME):
        return Problem(504, "Too slow", "the store did not answer in time: choose a shorter window or more filters")
    if isinstance(error, StoreError):
        log.warning("a page could not be shown: %s", type(error).__name__)
        return Problem(503, "Store out of reach", "the store does not answer; try again shortly", 5.0)
    for kind, status, title in _TABLE:
        if isinstance(error, kind):
            wait = error.retry_after_s if isinstance(error, OverloadError) else None
            return Problem(status, title, str(error), wait)
    if isinstance(error, ToolselectError):
        return Problem(400, "Cannot be used", str(error))
    place = traceback.extract_tb(error.__traceback__)[-1]
    log.error("%s at %s:%s while a page was made", type(error).__name__, place.filename, place.lineno)
    return Problem(500, "A mistake of ours", f"internal error ({type(error).__name__}); the log says where")


def as_json(problem: Problem) -> Response:
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    text = json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(text, problem.status, problem.headers, media_type=PROBLEM)
