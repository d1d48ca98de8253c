"""What waits: in order, bounded in memory, in segments that are read in pieces and survive damage."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.receive.backlog import Backlog, Entry, examine
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.records import FRAME_BYTES, SEGMENT_HEAD_BYTES, Packer, Request
from otel_toolselect.receive.segments import Damage, Found, Segment, SegmentFile, open_segment, scan
from otel_toolselect.receive.spool import Spool

PACKER = Packer("none")


def write(file: SegmentFile, *bodies: bytes, records: int = 1, packer: Packer = PACKER) -> list[Entry]:
    requests = [Request("traces", "protobuf", body) for body in bodies]
    packed = [packer.pack(request, records, time.time_ns()) for request in requests]
    offsets = file.append(packed)
    return [
        Entry(file.segment, offset, offset + FRAME_BYTES + frame.size, frame, request)
        for offset, (frame, _), request in zip(offsets, packed, requests, strict=True)
    ]


def body_of(entry: Entry) -> bytes:
    return entry.read().body


class Reported(list[tuple[int, bytes]]):
    """Damage that was reported; kept as long as `works`."""

    works = True

    def __call__(self, segment: Segment, damage: Damage) -> bool:
        self.append((damage.offset, damage.data))
        return self.works


@pytest.fixture
def reported() -> Reported:
    return Reported()


def test_memory_is_bounded_and_order_kept_whatever_arrives(tmp_path: Path, reported: Reported) -> None:
    backlog = Backlog(20_000, reported)
    file = SegmentFile(tmp_path, 0)
    bodies = [n.to_bytes(4, "big") * 25 for n in range(2_000)]
    taken: list[bytes] = []
    for start in range(0, 2_000, 100):
        backlog.add(write(file, *bodies[start : start + 100]))
        assert backlog.held_bytes <= 20_000
        if start % 300 == 0:  # the drain is slower than the senders
            entries = backlog.take(30, 10**9)
            assert len(entries) == 30
            taken += map(body_of, entries)
            backlog.cross_off(entries)
            backlog.settled()
    assert backlog.waiting == 2_000 - len(taken)
    while entries := backlog.take(70, 10**9):
        taken += map(body_of, entries)
        backlog.cross_off(entries)
        backlog.settled()
        assert backlog.held_bytes <= 20_000
    assert taken == bodies
    assert (backlog.waiting, backlog.waiting_bytes) == (0, 0)
    backlog.seal(file.segment)
    assert list(tmp_path.glob("*.seg")) == []


def test_writing_and_draining_at_once_loses_and_repeats_nothing(tmp_path: Path, reported: Reported) -> None:
    backlog = Backlog(5_000, reported)
    bodies = [n.to_bytes(4, "big") for n in range(3_000)]
    ended = threading.Event()
    taken: list[bytes] = []
    early: list[int] = []

    def settle() -> None:
        while True:
            last = ended.is_set()
            entries = backlog.take(7, 10**9)
            with backlog.changed:
                early.append(backlog.put - backlog.waiting - len(taken))  # what counts as settled and is not
            taken.extend(map(body_of, entries))
            backlog.cross_off(entries)
            backlog.settled()
            if last and not entries:
                return

    drain = threading.Thread(target=settle)
    drain.start()
    for number in range(10):
        file = SegmentFile(tmp_path, number)
        for start in range(300 * number, 300 * (number + 1), 20):
            backlog.add(write(file, *bodies[start : start + 20]))
        file.close()
        backlog.seal(file.segment)
    ended.set()
    drain.join()
    assert taken == bodies
    assert set(early) == {0}
    assert backlog.put == 3_000
    assert list(tmp_path.iterdir()) == []


def test_a_batch_is_bounded_in_records_and_in_bytes_as_they_were(tmp_path: Path, reported: Reported) -> None:
    file = SegmentFile(tmp_path, 0)
    backlog = Backlog(0, reported)
    backlog.add(write(file, *[b"x" * 1000] * 10, records=4, packer=Packer("zstd")))
    assert file.size < 10 * 1000
    assert len(backlog.take(10, 10**9)) == 2
    assert len(backlog.take(10**9, 3_500)) == 3
    assert len(backlog.take(1, 1)) == 1, "one at least, or nothing would ever go"
    assert len(backlog.take(10**9, 10**9)) == 4


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=12), st.data())
def test_damage_anywhere_costs_the_record_that_it_hits(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    file = SegmentFile(folder, 0)
    entries = write(file, *bodies)
    at = data.draw(st.integers(SEGMENT_HEAD_BYTES, file.size - 1))
    content = bytearray(file.segment.path.read_bytes())
    content[at] ^= data.draw(st.integers(1, 255))
    file.segment.path.write_bytes(content)
    file.close()
    segment = open_segment(file.segment.path)
    assert segment is not None
    hit = next(e for e in entries if e.offset <= at < e.end)
    found = list(scan(segment, segment.known, segment.size))
    whole = [x.stored for x in found if isinstance(x, Found)]
    assert whole == [body for body, e in zip(bodies, entries, strict=True) if e is not hit]
    assert [(x.offset, x.end) for x in found if isinstance(x, Damage)] == [(hit.offset, hit.end)]


@pytest.mark.parametrize("cut", [0, 1, 5, 11])
def test_a_file_that_was_just_being_made_holds_nothing(tmp_path: Path, reported: Reported, cut: int) -> None:
    file = SegmentFile(tmp_path, 3)
    file.close()
    path = file.segment.path
    path.write_bytes(path.read_bytes()[:cut])
    spool = new_spool(tmp_path, Backlog(0, reported))
    assert spool.recover(reported) == 0
    assert (reported, path.exists()) == ([], False)
    spool.close()


def test_a_file_of_another_kind_is_reported_whole(tmp_path: Path, reported: Reported) -> None:
    (tmp_path / "1.seg").write_bytes(b"TSSPOOL1" + b"x" * 50)
    backlog = Backlog(0, reported)
    spool = new_spool(tmp_path, backlog)
    spool.recover(reported)
    assert reported == [(0, b"TSSPOOL1" + b"x" * 50)]
    assert backlog.take(10, 10) == []
    assert list(tmp_path.glob("*.seg")) == [], "kept elsewhere, it may go"
    spool.close()


def test_damage_that_could_not_be_reported_stays(tmp_path: Path, reported: Reported) -> None:
    reported.works = False
    (tmp_path / "1.seg").write_bytes(b"something else entirely")
    backlog = Backlog(0, reported)
    spool = new_spool(tmp_path, backlog)
    spool.recover(reported)
    while entries := backlog.take(10, 10):
        backlog.cross_off(entries)
    spool.close()
    assert (tmp_path / "1.seg").exists()


def test_recovery_holds_one_record_at_a_time(tmp_path: Path, reported: Reported) -> None:
    import tracemalloc

    file = SegmentFile(tmp_path, 0)
    for _ in range(40):
        write(file, b"x" * 1_000_000)
    segment = open_segment(file.segment.path)
    assert segment is not None
    tracemalloc.start()
    examine(segment, reported)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert segment.unread == 40
    assert peak < 8_000_000 < segment.size
    backlog = Backlog(10**6, reported)
    backlog.restore([segment])
    assert len(backlog.take(10**6, 5_000_000)) == 5


def test_a_segment_that_cannot_be_read_ends_the_start_with_its_name(tmp_path: Path, reported: Reported) -> None:
    (tmp_path / "7.seg").mkdir()
    spool = new_spool(tmp_path, Backlog(0, reported))
    with pytest.raises(EnvironmentProblem, match=r"7\.seg"):
        spool.recover(reported)
    spool.close()


def test_a_segment_that_goes_bad_later_is_set_aside_and_the_next_one_drained(
    tmp_path: Path, reported: Reported
) -> None:
    backlog = Backlog(0, reported)
    first, second = SegmentFile(tmp_path, 0), SegmentFile(tmp_path, 1)
    backlog.add(write(first, b"a"))
    backlog.add(write(second, b"b"))
    first.segment.path.rename(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"0\.seg"):
        backlog.take(10, 10)
    backlog.set_aside()
    assert [body_of(e) for e in backlog.take(10, 10)] == [b"b"]
    assert backlog.waiting == 1


def test_files_and_folder_are_for_their_owner_only(tmp_path: Path, reported: Reported) -> None:
    spool = new_spool(tmp_path / "a" / "spool", Backlog(0, reported))
    SegmentFile(tmp_path / "a" / "spool", 0).close()
    assert (tmp_path / "a" / "spool").stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in (tmp_path / "a" / "spool").iterdir()} == {0o600}
    spool.close()


def new_spool(folder: Path, backlog: Backlog) -> Spool:
    return Spool(folder, backlog, limit=10**9, segment_bytes=10**6, retry_after_s=1.0, counters=Counters())
