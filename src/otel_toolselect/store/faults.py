"""ClickHouse's errors as ours: what failed, whether to try again, what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from otel_toolselect.errors import StoreError

# error codes after which the same statement may succeed later, by itself or because somebody puts right what is wrong
# with the store as a whole; all others (syntax, wrong type) are about the statement or its data
_RETRYABLE_CODES = frozenset(
    {
        60,  # UNKNOWN_TABLE
        75,  # CANNOT_WRITE_TO_FILE_DESCRIPTOR: a disk that is full or failing, as the next two
        76,  # CANNOT_OPEN_FILE
        77,  # CANNOT_CLOSE_FILE
        81,  # UNKNOWN_DATABASE
        159,  # TIMEOUT_EXCEEDED
        164,  # READONLY: a server that is starting or failing over
        202,  # TOO_MANY_SIMULTANEOUS_QUERIES
        203,  # NO_FREE_CONNECTION
        209,  # SOCKET_TIMEOUT
        210,  # NETWORK_ERROR
        225,  # NO_ZOOKEEPER
        236,  # ABORTED
        241,  # MEMORY_LIMIT_EXCEEDED
        242,  # TABLE_IS_READ_ONLY
        243,  # NOT_ENOUGH_SPACE
        252,  # TOO_MANY_PARTS
        279,  # ALL_CONNECTION_TRIES_FAILED
        319,  # UNKNOWN_STATUS_OF_INSERT
        394,  # QUERY_WAS_CANCELLED
        999,  # KEEPER_EXCEPTION
    }
)
_AUTH_CODES = frozenset({192, 193, 194, 516})
ACCESS_DENIED = 497
# no such column in an insert, unknown name in a query, unknown table: commands that only look do not migrate
_BEHIND_CODES = frozenset({16, 47, 60})
_NO_CONNECTION = re.compile(r"(?<=\] )[A-Z][a-z]+ (?:refused|reset by peer|timed out)|certificate verify failed[^)\"]*")
_ENGINE_CODE = re.compile(r"Code:\s*(\d+)|exception, code:\s*(\d+)")
# what the client adds: address, and a version that says nothing to a user
_TRAILER = re.compile(r"\s*\((?:for url [^)]*|version [^()]*(?:\([^()]*\))?[^()]*)\)")
_LONGEST_MESSAGE = 600
_LONGEST_EXCEPTION = 32 * 1024  # a server sends at most 16 KiB of it
_BEGIN_OF_STREAM = b"\xff\xff\xff\xff"
# behind rows: since ClickHouse 25.11 between marks with a tag that a header announces, before that with one mark
_EXCEPTION_IN_BODY = re.compile(
    rb"__exception__\r?\n(?:[a-z]+\r?\n)?(Code: .*?)(?:\n\d+ [a-z]+\r?\n__exception__\s*)?\Z", re.DOTALL
)
_STATUS = re.compile(r"HTTP status (\d{3})")
_CHECK = "check that --store names ClickHouse's HTTP port, and what a proxy in between does"
_HINTS = {
    **dict.fromkeys((401, 403, 407), "it wants another login: check user and password in --store"),
    413: "a proxy lets no such large bodies pass: raise its limit to 128 MiB",
    414: "a proxy lets no such long addresses pass: raise its limit to 64 KiB",
    429: "it is asked too often, and is asked again later",
}


class _Said(Exception):
    """The text of an exception of ClickHouse that came in a body."""


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Everything that the client raises inside becomes a `StoreError` that names `where` (a DSN without password)."""
    from clickhouse_connect.driver.exceptions import ClickHouseError

    try:
        yield
    except ClickHouseError as error:
        raise fault(error, where) from error
    except OSError as error:  # the network, or the file of an embedded insert
        raise away(where, str(error)) from error


def fault(error: Exception, where: str) -> StoreError:
    """The `StoreError` for an error of the client."""
    code = error_code(error)
    text = brief(str(error))
    if code is None:
        return _of_status(text, where) or away(where, _reason(text))
    if code in _AUTH_CODES:
        return StoreError(
            f"the store at {where} refused the login: {text}; check user and password in --store", retryable=True
        )
    if code == ACCESS_DENIED:  # retryable: an operator may grant it, and what waits for it is kept
        return StoreError(
            f"this user may not do what is asked of the store at {where}: {text}; "
            "`toolselect store grants` prints what each user needs",
            retryable=True,
        )
    hint = "; `toolselect store status` says what its tables lack" if code in _BEHIND_CODES else ""
    return StoreError(f"the store at {where} refused a statement: {text}{hint}", retryable=code in _RETRYABLE_CODES)


def _reason(text: str) -> str:
    """Why a connection failed, without the names of classes and addresses that the client wraps around it."""
    found = _NO_CONNECTION.search(text)
    return found[0] if found else text


def _of_status(text: str, where: str) -> StoreError | None:
    """For an HTTP status without an exception of ClickHouse: the answer of something in between."""
    found = _STATUS.search(text)
    if found is None or found[1][0] == "5":
        return None
    hint = _HINTS.get(
        int(found[1]), "check that --store names ClickHouse's HTTP port, and what a proxy in between does"
    )
    return StoreError(f"what answers for the store at {where} said HTTP status {found[1]}; {hint}", retryable=True)


def broken(body: bytes, why: str, where: str) -> StoreError:
    """The `StoreError` for an answer with status 200 that is not the rows that were asked for.

    A server that fails after the first rows writes its exception behind them (ClickHouse's HTTP interface, "Handling
    errors during streaming"); a proxy in between may have ended such an answer properly, or cut it, or made it up.
    """
    said = _EXCEPTION_IN_BODY.search(body[-_LONGEST_EXCEPTION:])
    if said is not None:
        return fault(_Said(said[1].decode("utf-8", "replace")), where)
    if body and not body.startswith(_BEGIN_OF_STREAM):
        return stranger(where)
    return away(where, f"its answer broke off after {len(body)} bytes ({brief(why)})")


def stranger(where: str) -> StoreError:
    """Something answers that is not ClickHouse."""
    return StoreError(
        f"something other than ClickHouse answers at {where}; {_CHECK}",
        retryable=True,
    )


def away(where: str, text: str) -> StoreError:
    """The store does not answer."""
    return StoreError(
        f"the store at {where} is out of reach: {text}; check that it runs and that --store names it", retryable=True
    )


def error_code(error: Exception) -> int | None:
    """ClickHouse's error number, None where the error did not come from ClickHouse."""
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return code
    found = _ENGINE_CODE.search(str(error))
    return int(found.group(1) or found.group(2)) if found else None


def denied(error: StoreError) -> bool:
    """Whether ClickHouse refused because the user may not."""
    return isinstance(error.__cause__, Exception) and error_code(error.__cause__) == ACCESS_DENIED


def brief(text: str) -> str:
    """An error text without the client's additions and of bounded length: it may quote a whole statement."""
    text = _TRAILER.sub("", " ".join(text.split()))
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "..."
