"""What may go wrong with one request, and which requests it hits.

endpoint.faults.next(drop_after(), on="INSERT INTO runs")     # the next request with such a statement
endpoint.faults.next(proxy(502), times=3)                     # the next three, whatever they ask
endpoint.faults.at_random(1, 0.2, [drop_before(), cut(0.5)])  # every fifth, which ones is fixed by the seed
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .answer import Answer, Framing


@dataclass(frozen=True, slots=True)
class Fault:
    """`send` stands in for the whole answer. `runs`: whether the statement was run before it."""

    name: str
    send: Callable[[Answer], None]
    runs: bool

    def __str__(self) -> str:
        return self.name


def drop_before(*, reset: bool = False) -> Fault:
    """The connection goes before the statement was run."""
    return Fault(f"dropped before it ran{', reset' * reset}", lambda a: a.hang_up(reset=reset), runs=False)


def drop_after(*, reset: bool = False) -> Fault:
    """The statement ran, and the connection goes before a byte of the answer."""
    return Fault(f"dropped after it ran{', reset' * reset}", lambda a: a.hang_up(reset=reset), runs=True)


def drop_in_headers() -> Fault:
    """Headers of progress, then nothing more: to a reader of HTTP that is an empty answer with status 200."""

    def send(answer: Answer) -> None:
        answer.progress(2)
        answer.hang_up()

    return Fault("dropped among headers of progress", send, runs=True)


def cut(share: float, framing: Framing = "chunked") -> Fault:
    """The first part of the body, then the connection goes. With `close` HTTP itself cannot tell."""

    def send(answer: Answer) -> None:
        answer.head(framing=framing)
        answer.piece(answer.payload[: int(len(answer.payload) * share)])
        answer.hang_up()

    return Fault(f"cut at {share:.0%}, {framing}", send, runs=True)


def short(bytes_missing: int) -> Fault:
    """A body that is shorter than it was, in an answer that is whole by its own account: a proxy read it so."""

    def send(answer: Answer) -> None:
        answer.payload = answer.payload[: len(answer.payload) - bytes_missing]
        answer.whole()

    return Fault(f"{bytes_missing} bytes short", send, runs=True)


def exception_in_stream(
    code: int, text: str, *, tagged: bool = True, framing: Framing = "chunked", share: float = 0.5, ended: bool = False
) -> Fault:
    """Rows, then an exception, then the connection goes; `ended`: a proxy in between has ended the body properly."""

    def send(answer: Answer) -> None:
        answer.head(framing=framing)
        answer.rows_then_exception(share, f"Code: {code}. DB::Exception: {text}", tagged=tagged)
        if ended:
            answer.end()
        else:
            answer.hang_up()

    how = f"{'tagged' if tagged else 'bare'}, {framing}, {'ended' if ended else 'broken'}"
    return Fault(f"exception {code} after {share:.0%} of the rows, {how}", send, runs=True)


def exception_after_progress(code: int, text: str) -> Fault:
    """Status 200 and headers of progress are out when the statement fails: the number comes as one more header."""

    def send(answer: Answer) -> None:
        answer.progress(1)
        said = answer.worded(f"Code: {code}. DB::Exception: {text}")
        answer.keep_alive = False
        answer.head(200, "length", {"X-ClickHouse-Exception-Code": str(code)}, said, coded=False)

    return Fault(f"exception {code} after progress", send, runs=False)


def refused(code: int, text: str, status: int = 500, *, runs: bool = False) -> Fault:
    """An exception before the first byte."""
    return Fault(
        f"exception {code}", lambda a: a.refused(status, code, f"Code: {code}. DB::Exception: {text}"), runs=runs
    )


def proxy(status: int, body: str = "<html><body>nginx</body></html>", *, runs: bool = False) -> Fault:
    """What something between client and server answers on its own; `runs`: though the server has run it."""

    def send(answer: Answer) -> None:
        answer.headers = {"Content-Type": "text/html"}
        answer.head(status, "length", body=body.encode(), coded=False)

    return Fault(f"proxy says {status}{', though it ran' * runs}", send, runs=runs)


def silent(*, runs: bool = False) -> Fault:
    """No answer until the client gives up."""
    return Fault(f"silent{', though it ran' * runs}", Answer.wait_for_peer, runs=runs)


def slow(size: int) -> Fault:
    """A whole answer in pieces of so many bytes."""

    def send(answer: Answer) -> None:
        answer.head()
        for piece in answer.pieces(size):
            answer.piece(piece)
        answer.end()

    return Fault(f"slow, {size} bytes at a time", send, runs=True)


class Faults:
    """Chooses the fault of each statement, if any. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: list[tuple[str, Fault]] = []
        self._draw: Callable[[], Fault | None] = lambda: None
        self.sent: list[tuple[Fault, str]] = []
        """What went wrong, and with which statement."""

    def next(self, fault: Fault, *, on: str = "", times: int = 1) -> None:
        """The next `times` statements that hold the text `on`."""
        with self._lock:
            self._planned += [(on, fault)] * times

    def at_random(self, seed: int, share: float, faults: Sequence[Fault]) -> None:
        """From now on, so large a share of all statements."""
        drawn = random.Random(seed)
        with self._lock:
            self._draw = lambda: drawn.choice(faults) if drawn.random() < share else None

    def none(self) -> None:
        with self._lock:
            self._planned.clear()
            self._draw = lambda: None

    def take(self, sql: str) -> Fault | None:
        """For the server: the fault of this statement."""
        with self._lock:
            found = next((p for p in self._planned if p[0] in sql), None)
            if found is not None:
                self._planned.remove(found)
            fault = self._draw() if found is None else found[1]
            if fault is not None:
                self.sent.append((fault, sql))
            return fault
