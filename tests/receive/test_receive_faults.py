"""Stores that hang, refuse or stay away, and disks that fill: acknowledged requests outlive all of it."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from receive_samples import away, proto_request

from otel_toolselect.errors import StoreError
from otel_toolselect.receive import Receiver, deadletters, drain, segments
from otel_toolselect.receive.letters import letters

PORTS = {"grpc_port": None}
WAIT_S = 20.0


def until(condition: Callable[[], bool]) -> None:
    """Waits for something that another thread brings about."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "it never came"
        threading.Event().wait(0.01)


@pytest.fixture
def send(post) -> Callable[[Receiver, bytes], httpx.Response]:
    return lambda receiver, body: post(receiver, body, content_type="application/x-protobuf")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Disks that take nothing: the spool's with the error of a number, the dead letters' with "letters"."""
    broken: set[str] = set()
    write, open_ = os.write, os.open

    def spool_write(handle, data):
        for code in [int(x) for x in broken if x.isdigit()]:
            write(handle, bytes(data)[: len(data) // 2])
            raise OSError(code, os.strerror(code))
        return write(handle, data)

    def letters_open(path, flags, *mode):
        if "letters" in broken and "dead-letter" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return open_(path, flags, *mode)

    monkeypatch.setattr(segments.os, "write", spool_write)
    monkeypatch.setattr(deadletters.os, "open", letters_open)
    yield broken
    broken.clear()


def test_a_store_that_hangs_stops_neither_acknowledgements_nor_a_stop(running, sink, send) -> None:
    returns = threading.Event()
    sink.fail = lambda spans: returns.wait() and None
    body = proto_request(1)
    receiver = running(stop_s=0.2, spool_bytes=20 * len(body), memory_bytes=0)
    answers = [send(receiver, body).status_code for _ in range(25)]
    assert answers == [200] * 20 + [429] * 5
    assert receiver.stop() == 20  # it ends at all: the store never does
    returns.set()
    sink.fail = lambda spans: None
    again = running()
    again.flush()
    assert again.counters.snapshot()["replayed"] == 20


def test_what_comes_back_after_the_stop_crosses_nothing_off(running, sink, send) -> None:
    returns, returned = threading.Event(), threading.Event()

    def hang(spans):
        returns.wait()
        returned.set()

    sink.fail = hang
    first = running(stop_s=0.0)
    assert send(first, proto_request(1)).status_code == 200
    until(sink.tried.is_set)
    assert first.stop() == 1
    sink.fail = away
    second = running(stop_s=0.0)  # it has the folder now
    returns.set()
    assert returned.wait(WAIT_S)
    assert second.stop() == 1
    sink.fail = lambda spans: None
    third = running()
    third.flush()
    assert third.counters.snapshot()["replayed"] == 1


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_takes_nothing_is_told_and_passes(running, settings, sink, send, full, code: int) -> None:
    receiver = running()
    assert send(receiver, proto_request(1)).status_code == 200
    full.add(str(code))
    for n in range(2, 12):
        answer = send(receiver, proto_request(n))
        assert answer.status_code == 429
        assert float(answer.headers["retry-after"]) > 0
    assert len(list(settings().spool.glob("*.seg"))) <= 1, "no attempt leaves a file behind"
    assert receiver.waiting_bytes == 0 or sink.ids == {1}
    full.clear()
    assert send(receiver, proto_request(12)).status_code == 200
    receiver.flush()
    assert sink.ids == {1, 12}


def test_a_sync_that_fails_acknowledges_nothing(running, sink, send, monkeypatch) -> None:
    receiver = running()
    fails = threading.Event()
    fails.set()
    sync = segments._sync

    def failing(handle):
        if fails.is_set():
            raise OSError(errno.EIO, "Input/output error")
        sync(handle)

    monkeypatch.setattr(segments, "_sync", failing)
    assert send(receiver, proto_request(1)).status_code == 429
    fails.clear()
    assert send(receiver, proto_request(2)).status_code == 200
    receiver.flush()
    assert 2 in sink.ids


def refuse_odd(spans):
    if any(int(s.span_id, 16) % 2 for s in spans):
        raise StoreError("bad value", retryable=False)


def test_letters_that_cannot_be_written_wait_in_the_spool_and_hold_up_nobody(
    running, settings, sink, send, full
) -> None:
    sink.fail = refuse_odd
    full.add("letters")
    receiver = running(segment_bytes=100)
    for n in range(1, 11):
        assert send(receiver, proto_request(n)).status_code == 200
    receiver.flush()
    assert sink.ids == {2, 4, 6, 8, 10}
    folder = settings().spool / "dead-letter"
    assert list(letters(folder)) == []
    assert not list(folder.glob("*.part"))
    assert len(list(settings().spool.glob("*.seg"))) == 5
    full.clear()
    until(lambda: len(list(letters(folder))) == 5)
    until(lambda: not list(settings().spool.glob("*.seg")))
    assert {x.request().body for x in letters(folder)} == {proto_request(n) for n in (1, 3, 5, 7, 9)}


def test_letters_that_could_not_be_written_before_a_stop_are_tried_at_the_next_start(
    running, settings, sink, send, full
) -> None:
    sink.fail = refuse_odd
    full.add("letters")
    receiver = running()
    for n in range(1, 5):
        assert send(receiver, proto_request(n)).status_code == 200
    receiver.flush()
    assert receiver.stop() == 2
    full.clear()
    running().flush()
    assert sink.ids == {2, 4}
    assert len(list(letters(settings().spool / "dead-letter"))) == 2


def test_beyond_a_number_of_such_letters_the_drain_waits(running, settings, sink, send, full, monkeypatch) -> None:
    monkeypatch.setattr(drain, "_UNBURIED", 3)
    sink.fail = refuse_odd
    full.add("letters")
    receiver = running(insert_delay_s=0.0, spool_bytes=4_000)
    for n in range(1, 41, 2):
        assert send(receiver, proto_request(n)).status_code == 200
    with pytest.raises(StoreError, match="in time"):
        receiver.flush(timeout_s=0.3)
    full.clear()
    receiver.flush()
    until(lambda: len(list(letters(settings().spool / "dead-letter"))) == 20)


def test_what_the_store_does_not_take_in_time_goes_to_the_dead_letters_with_its_age(
    running, settings, sink, send
) -> None:
    sink.fail = away
    receiver = running(spool_max_age_s=0.5)
    for n in range(1, 4):
        assert send(receiver, proto_request(n)).status_code == 200
    folder = settings().spool / "dead-letter"
    until(lambda: len(list(letters(folder))) == 3)
    assert all("did not take it for 0.5 s" in x.reason and x.acknowledged for x in letters(folder))
    until(lambda: receiver.counters.snapshot()["dead_letters_by_age"] == 3)
    sink.fail = lambda spans: None
    assert send(receiver, proto_request(4)).status_code == 200
    receiver.flush()
    assert sink.ids == {4}


def test_old_requests_are_stored_when_the_store_is_there(running, sink, send, monkeypatch) -> None:
    sink.fail = away
    first = running(stop_s=0.0)
    with monkeypatch.context() as patch:
        patch.setattr("otel_toolselect.receive.spool.time.time_ns", lambda: 10**18)
        assert send(first, proto_request(1)).status_code == 200
    first.stop()
    sink.fail = lambda spans: None
    second = running(spool_max_age_s=1)
    second.flush()
    assert sink.ids == {1}


def test_pauses_double_up_to_a_limit_and_are_anything_below_it(monkeypatch) -> None:
    asked: list[tuple[float, float]] = []
    monkeypatch.setattr(drain.random, "uniform", lambda low, high: asked.append((low, high)) or low)
    for attempt in (0, 1, 2, 3, 10, 10**6):
        drain._jittered(attempt, 5.0)
    assert asked == [(0.0, 0.05), (0.0, 0.1), (0.0, 0.2), (0.0, 0.4), (0.0, 5.0), (0.0, 5.0)]


def test_small_traffic_makes_few_inserts(running, sink, send) -> None:
    receiver = running(insert_delay_s=0.25)
    began = time.monotonic()
    n = 0
    while time.monotonic() - began < 1.0:
        n += 1
        assert send(receiver, proto_request(n)).status_code == 200
    seconds = time.monotonic() - began
    assert sink.calls <= 1 + seconds / 0.25
    receiver.flush()
    assert len(sink.ids) == n > sink.calls


def test_a_backlog_is_inserted_in_bounded_batches_after_a_restart(running, sink, send) -> None:
    sink.fail = away
    first = running(stop_s=0.0, insert_spans=10)
    for n in range(12):
        assert send(first, proto_request(*range(1 + 4 * n, 5 + 4 * n))).status_code == 200
    first.stop()
    sizes: list[int] = []
    sink.fail = lambda spans: sizes.append(len(spans))
    second = running(insert_spans=10)
    second.flush()
    assert sizes == [8] * 6
    assert sink.ids == set(range(1, 49))


def test_compressed_records_come_back_as_they_were(running, settings, sink, send) -> None:
    sink.fail = away
    first = running(stop_s=0.0, spool_compression="zstd")
    body = proto_request(1, blob=100_000)
    assert send(first, body).status_code == 200
    assert 0 < first.waiting_bytes < 1_000
    first.stop()
    sink.fail = lambda spans: None
    running().flush()  # whatever the setting is now
    (span,) = sink.spans.values()
    assert span.attributes == {"blob": "x" * 100_000}


def test_a_request_larger_than_the_spool_is_refused_for_good(running, send) -> None:
    receiver = running(spool_bytes=1_000)
    assert send(receiver, proto_request(1, blob=2_000)).status_code == 413


def test_a_letter_is_private_and_says_what_and_whose_it_is(running, settings, sink, send) -> None:
    sink.fail = refuse_odd
    receiver = running()
    assert send(receiver, proto_request(1)).status_code == 200
    receiver.flush()
    folder = settings().spool / "dead-letter"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in folder.iterdir()} == {0o600}
    (letter,) = letters(folder)
    assert (letter.signal, letter.acknowledged, letter.size) == ("traces", True, len(proto_request(1)))
    note = json.loads((folder / f"{letter.id}.reason.json").read_text())
    assert note["bytes"] == letter.size
    letter.remove()
    assert list(folder.iterdir()) == []
