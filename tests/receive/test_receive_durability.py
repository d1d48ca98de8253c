"""Acknowledged means kept: through kills, torn files, stores that are away, and stores that refuse."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from receive_samples import TRACE, away, proto_request, request, span

from otel_toolselect.errors import EnvironmentProblem, StoreBusyError, StoreError
from otel_toolselect.receive import Receiver
from otel_toolselect.receive.records import FRAME_BYTES
from otel_toolselect.receive.segments import scan

PORTS = {"grpc_port": None}
PROTO = "application/x-protobuf"


def segments(spool: Path) -> list[Path]:
    return sorted(spool.glob("*.seg"))


def leave_behind(running, sink, post, count: int, **changes) -> None:
    """Requests 1..count are acknowledged, and nothing of them is in the store when the process is gone."""
    sink.fail = away
    receiver = running(stop_s=0.0, **changes)
    for n in range(1, count + 1):
        assert post(receiver, proto_request(n), content_type=PROTO).status_code == 200
    assert receiver.stop() == count
    sink.fail = lambda spans: None
    assert sink.ids == set()


def test_what_a_killed_process_acknowledged_is_in_the_store_after_restart(running, settings, sink) -> None:
    child = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("crash_child.py")), str(settings().spool)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    with child, child.stdout, ThreadPoolExecutor(4) as pool, httpx.Client() as client:
        base = f"http://127.0.0.1:{int(child.stdout.readline())}/v1/traces"
        acknowledged: set[int] = set()
        enough = threading.Event()

        def send(n: int) -> None:
            try:
                answer = client.post(base, content=proto_request(n), headers={"content-type": PROTO})
            except httpx.TransportError:
                return  # killed before it answered: nothing was promised
            if answer.status_code == 200:
                acknowledged.add(n)
            if len(acknowledged) >= 50:
                enough.set()

        sent = [pool.submit(send, n) for n in range(1, 401)]
        assert enough.wait(20)
        child.send_signal(signal.SIGKILL)
        for future in sent:
            future.result()
    assert 50 <= len(acknowledged) < 400
    receiver = running()
    receiver.flush()
    assert acknowledged <= sink.ids
    assert receiver.stop() == 0
    assert segments(settings().spool) == []


def test_left_over_requests_are_replayed_in_order_and_crossed_off(running, settings, sink, post) -> None:
    leave_behind(running, sink, post, 20, segment_bytes=300)
    assert len(segments(settings().spool)) > 2
    seen: list[int] = []
    sink.fail = lambda spans: seen.extend(int(s.span_id, 16) for s in spans)
    receiver = running()
    receiver.flush()
    assert seen == list(range(1, 21))
    assert receiver.counters.snapshot()["replayed"] == 20
    assert segments(settings().spool) == []


@pytest.mark.parametrize("cut", [1, 30, 44])
def test_a_torn_tail_loses_only_the_torn_record(running, settings, sink, post, cut) -> None:
    leave_behind(running, sink, post, 3)
    (segment,) = segments(settings().spool)
    body = proto_request(3)
    assert cut < FRAME_BYTES + len(body)
    os.truncate(segment, segment.stat().st_size - cut)
    receiver = running()
    receiver.flush()
    assert sink.ids == {1, 2}
    torn = FRAME_BYTES + len(body) - cut
    assert receiver.counters.snapshot()["torn_bytes"] == torn
    (kept,) = (settings().spool / "dead-letter").glob("*.torn")
    assert kept.stat().st_size == torn


@pytest.mark.parametrize("damage", [b"\0" * 64, b"\xff" * 64])
def test_garbage_behind_the_last_record_is_reported_once(running, settings, sink, post, damage) -> None:
    leave_behind(running, sink, post, 2)
    (segment,) = segments(settings().spool)
    with segment.open("ab") as file:
        file.write(damage)
    sink.fail = away
    first = running(stop_s=0.0)
    assert first.counters.snapshot()["torn_bytes"] == 64
    first.stop()
    sink.fail = lambda spans: None
    second = running()
    second.flush()
    assert second.counters.snapshot()["torn_bytes"] == 0
    assert sink.ids == {1, 2}


def test_a_damaged_record_is_not_taken_for_a_sound_one(running, settings, sink, post) -> None:
    leave_behind(running, sink, post, 2)
    (segment,) = segments(settings().spool)
    data = bytearray(segment.read_bytes())
    data[-1] ^= 1
    segment.write_bytes(data)
    receiver = running()
    receiver.flush()
    assert sink.ids == {1}
    assert receiver.counters.snapshot()["dead_letters"] == 1


def test_an_unreadable_record_goes_to_the_dead_letters(running, settings, sink, post, monkeypatch) -> None:
    leave_behind(running, sink, post, 2)
    from otel_toolselect.receive import records

    decode = records.decode_traces_proto

    def picky(body, *args, **options):
        return decode(b"\xff" if body == proto_request(1) else body, *args, **options)

    monkeypatch.setattr(records, "decode_traces_proto", picky)
    receiver = running()
    receiver.flush()
    assert sink.ids == {2}
    (kept,) = (settings().spool / "dead-letter").glob("*.pb")
    assert kept.read_bytes() == proto_request(1)
    assert receiver.stop() == 0
    assert segments(settings().spool) == []


def test_a_store_that_is_away_fills_the_spool_and_then_says_come_back(running, settings, sink, post) -> None:
    sink.fail = away
    receiver = running(spool_bytes=2000, retry_after_s=1.2)
    answers = []
    while not answers or answers[-1].status_code == 200:
        answers.append(post(receiver, request(span(len(answers) + 1))))
    refused = answers.pop()
    assert len(answers) > 3
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.json()["code"] == 8
    assert refused.json()["details"][0]["retryDelay"] == "1.2s"
    with pytest.raises(StoreError, match="safe"):
        receiver.flush(timeout_s=0.01)
    sink.fail = lambda spans: None
    receiver.flush()
    assert sink.ids == set(range(1, len(answers) + 1))
    assert post(receiver, request(span(99))).status_code == 200
    counts = receiver.counters.snapshot()
    assert (counts["overloaded"], counts["refused"], counts["failed"]) == (1, 0, 0)


@pytest.mark.parametrize("error", [StoreError("away"), StoreBusyError("held"), ConnectionError("reset")])
def test_failures_that_may_pass_are_tried_again(running, sink, post, error) -> None:
    failures = [error, error, error]

    def fail(spans):
        if failures:
            raise failures.pop()

    sink.fail = fail
    receiver = running()
    assert post(receiver, request(span(1))).status_code == 200
    receiver.flush()
    assert sink.ids == {1}
    assert receiver.counters.snapshot()["dead_letters"] == 0


@pytest.mark.parametrize("error", [StoreError("bad value", retryable=False), ValueError("bad value")])
def test_one_request_that_the_store_refuses_does_not_hold_up_the_others(running, settings, sink, post, error) -> None:
    def refuse(spans):
        if any(int(s.span_id, 16) == 5 for s in spans):
            raise error

    sink.fail = refuse
    receiver = running(insert_delay_s=300.0)  # so that they share one insert: flush makes it happen
    for n in range(1, 9):
        assert post(receiver, request(span(n))).status_code == 200
    receiver.flush(timeout_s=20)
    assert sink.ids == {1, 2, 3, 4, 6, 7, 8}
    folder = settings().spool / "dead-letter"
    (reason,) = folder.glob("*.reason.json")
    assert "the store refused it" in json.loads(reason.read_text())["reason"]
    (body,) = (f for f in folder.iterdir() if f != reason)
    kept = ExportTraceServiceRequest.FromString(body.read_bytes())
    assert kept.resource_spans[0].scope_spans[0].spans[0].span_id == (5).to_bytes(8, "big")
    assert receiver.waiting_bytes == 0


def test_many_requests_make_few_inserts_on_one_thread(running, sink, post) -> None:
    receiver = running(insert_delay_s=300.0)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: post(receiver, request(span(n))), range(1, 201)))
    assert {a.status_code for a in answers} == {200}
    receiver.flush(timeout_s=20)
    assert sink.ids == set(range(1, 201))
    assert sink.calls <= 3
    assert receiver.counters.snapshot()["inserts"] == sink.calls
    assert len(sink.threads) == 1


def test_a_full_batch_does_not_wait(running, sink, post) -> None:
    receiver = running(insert_delay_s=300.0, insert_spans=10)
    assert post(receiver, request(*map(span, range(1, 11)))).status_code == 200
    assert sink.tried.wait(10)
    receiver.flush()
    assert sink.calls == 1


@pytest.mark.parametrize(("memory", "read_back"), [(0, 9), (2_000, 6), (10_000_000, 0)])
def test_beyond_its_memory_requests_are_read_back(running, sink, post, monkeypatch, memory, read_back) -> None:
    seen: list[int] = []

    def watched(segment, start, end):
        for found in scan(segment, start, end):
            seen.append(found.offset)
            yield found

    monkeypatch.setattr("otel_toolselect.receive.backlog.scan", watched)
    receiver = running(memory_bytes=memory, segment_bytes=300, insert_delay_s=300.0)
    for n in range(1, 10):
        assert post(receiver, request(span(n))).status_code == 200
    receiver.flush()
    assert list(sink.spans) == [(TRACE, f"{n:016x}") for n in range(1, 10)]
    assert len(seen) == read_back


def test_segments_go_as_they_are_drained(running, settings, sink, post) -> None:
    receiver = running(segment_bytes=500)
    for n in range(1, 21):
        assert post(receiver, request(span(n))).status_code == 200
    receiver.flush()
    assert len(segments(settings().spool)) <= 1
    assert receiver.waiting_bytes == 0


def test_a_graceful_stop_drains_everything(running, settings, sink, post) -> None:
    receiver = running(insert_delay_s=300.0)
    assert post(receiver, request(span(1))).status_code == 200
    assert sink.ids == set()
    assert receiver.stop() == 0
    assert sink.ids == {1}
    assert segments(settings().spool) == []
    assert receiver.stop() == 0  # once more does no harm


def test_a_disk_that_is_full_is_overload_and_passes(running, settings, sink, post, monkeypatch) -> None:
    sink.fail = away  # so that the segment stays to be looked at
    receiver = running()
    assert post(receiver, request(span(1))).status_code == 200
    write, full = os.write, threading.Event()

    def limited(handle, data):
        if full.is_set() and len(data) > 20:  # the frame goes through, the body is cut
            write(handle, bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr("otel_toolselect.receive.segments.os.write", limited)
    (segment,) = segments(settings().spool)
    size = segment.stat().st_size
    full.set()
    answer = post(receiver, request(span(2)))
    assert (answer.status_code, "no space left" in answer.json()["message"]) == (429, True)
    assert segment.stat().st_size == size
    full.clear()
    assert post(receiver, request(span(3))).status_code == 200
    sink.fail = lambda spans: None
    receiver.flush()
    assert sink.ids == {1, 3}
    assert receiver.stop() == 0
    assert segments(settings().spool) == []
    assert running().counters.snapshot()["torn_bytes"] == 0


def test_two_receivers_do_not_share_a_spool_or_a_port(running, settings, sink, tmp_path) -> None:
    receiver = running(grpc_port=0)
    with pytest.raises(EnvironmentProblem, match="in use"):
        Receiver(settings(), sink).start()
    other = {"spool": tmp_path / "other"}
    with pytest.raises(EnvironmentProblem, match="cannot listen"):
        Receiver(settings(http_port=receiver.http_port, **other), sink).start()
    with pytest.raises(EnvironmentProblem, match="cannot listen"):
        Receiver(settings(grpc_port=receiver.grpc_port, **other), sink).start()
    # and a failed start leaves nothing held
    assert Receiver(settings(**other), sink).start().stop() == 0


def test_a_spool_that_cannot_be_made(settings, sink, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="cannot be used"):
        Receiver(settings(spool=tmp_path / "file" / "spool"), sink).start()


def test_importing_the_package_loads_no_server() -> None:
    code = (
        "import sys, otel_toolselect.receive;"
        "print([m for m in ('grpc', 'starlette', 'uvicorn', 'google.protobuf') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
