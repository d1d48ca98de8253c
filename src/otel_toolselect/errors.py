"""The whole exception tree.

Every error that a user can cause or meet is one of these. `retryable` says, once and for everybody, whether the
same call may succeed later; the receiver maps it to a gRPC or HTTP status in one file, the command line maps
`exit_code` (design section 8).

    ToolselectError
    ├── UsageError             exit 2   wrong flags or arguments
    ├── InputError             exit 2   a file or body that cannot be read; names path and position
    │   ├── DecodeError                 not OTLP (or not what its content type says)
    │   ├── TooLargeError               over a size or decompression limit
    │   ├── NotFoundError               what is asked for is not there, or not for the caller to see
    │   └── SuiteError                  a suite or rule file; holds *all* problems found
    ├── TooFewError            exit 3   too few observations to decide
    ├── EnvironmentProblem     exit 4   store or server out of reach
    │   ├── StoreError                  the store refused or is away
    │   │   ├── StoreMissingError       there is nothing at that place yet
    │   │   └── SchemaError             a migration that cannot be made into the schema of a cluster
    │   ├── StoreBusyError              another process holds the embedded store
    │   └── NotifyError                 a receiver of notifications is away or refuses them
    └── OverloadError          exit 4   the receiver's spool is full; retry later
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


class ToolselectError(Exception):
    """Root of everything raised on purpose."""

    exit_code: int = 2
    retryable: bool = False


class UsageError(ToolselectError):
    """A command was called in a way that cannot work; the message says which way can."""


class InputError(ToolselectError):
    """Input that cannot be used. `where` is "path:line" or a field path; the message never lacks it."""

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.bare = message


class DecodeError(InputError):
    """Bytes that are not what they claim to be."""


class TooLargeError(InputError):
    """A body or file over a size limit, before or after decompression."""


class NotFoundError(InputError):
    """What is asked for is not there. Who may not see it is told the same."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a user's file. Line and column count from 1."""

    path: str
    line: int
    column: int
    message: str
    suggestion: str = ""

    def __str__(self) -> str:
        hint = f" ({self.suggestion})" if self.suggestion else ""
        return f"{self.path}:{self.line}:{self.column}: {self.message}{hint}"


class SuiteError(InputError):
    """A suite or rule file with mistakes: all of them, in order of position."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.path, p.line, p.column, p.message)))
        super().__init__("\n".join(str(p) for p in self.problems))


class TooFewError(ToolselectError):
    """Too few observations to decide anything."""

    exit_code = 3


class EnvironmentProblem(ToolselectError):
    """Something outside the program is missing or away: store, server, port."""

    exit_code = 4


class StoreError(EnvironmentProblem):
    """The store refused a statement or is out of reach."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class StoreMissingError(StoreError):
    """There is no store, or no database, where one was named; nothing was to be made. Never retryable."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class SchemaError(StoreError):
    """A statement of a migration in a form that is not known. `where`: its file and number; never retryable."""

    def __init__(self, where: str, statement: str, problem: str) -> None:
        shown = " ".join(statement.split())
        shown = shown if len(shown) <= 120 else shown[:120] + "..."
        super().__init__(f"{where}: {problem}: {shown}", retryable=False)
        self.where = where
        self.statement = statement


class StoreBusyError(EnvironmentProblem):
    """Another process holds the embedded store (one process per directory)."""


class NotifyError(EnvironmentProblem):
    """A notifier could not deliver. `retry_after_s`: when the receiver said so; `delivered`: keys of the notifications
    of the same call that were taken all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after_s: float | None = None,
        delivered: Collection[str] = (),
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.delivered = frozenset(delivered)


class OverloadError(EnvironmentProblem):
    """The receiver cannot keep more for now. `retry_after_s`: seconds after which to try again."""

    retryable = True

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
