"""Decompression: all members and frames, bounded, and a wrong label is an error (bug 08 of the collection)."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
import zstandard
from otlp_samples import DATA

from otel_toolselect.errors import DecodeError, TooLargeError
from otel_toolselect.otlp import decode_json, decompress
from otel_toolselect.otlp.compress import Truncated, inflate

BOMBS = DATA / "08-gzip-members-and-bomb"
MIB = 1024 * 1024


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(("pack", "coding"), [(gzip.compress, "gzip"), (zstd, "zstd")])
@pytest.mark.parametrize("sizes", [[0], [5], [300_000], [1, 0, 700_000, 2]])
def test_every_member_is_read(pack, coding, sizes) -> None:
    parts = [bytes(i % 251 for i in range(size)) for size in sizes]
    packed = b"".join(map(pack, parts))
    assert decompress(packed, coding) == b"".join(parts)
    # however the stream is cut into chunks
    for size in (1, 7, 4096):
        chunks = (packed[i : i + size] for i in range(0, len(packed), size))
        assert b"".join(inflate(chunks, coding)) == b"".join(parts)


def test_two_members_of_one_document() -> None:
    body = decompress((BOMBS / "two-members.json.gz").read_bytes(), "gzip")
    assert [s.name.split()[1] for s in decode_json(body).spans] == ["get_rate", "get_fee"]


def test_zeros_behind_the_last_member_are_padding() -> None:
    assert decompress(gzip.compress(b"x") + bytes(512) + gzip.compress(b"y") + bytes(9), "gzip") == b"xy"


@pytest.mark.parametrize(
    ("bomb", "coding"), [((BOMBS / "bomb.json.gz").read_bytes(), "gzip"), (zstd(b" " * 512 * MIB), "zstd")]
)
def test_a_bomb_is_too_large_and_memory_stays_near_the_limit(bomb, coding) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            decompress(bomb, coding, 4 * MIB)
        assert tracemalloc.get_traced_memory()[1] < 24 * MIB
    finally:
        tracemalloc.stop()


def test_exactly_the_limit_is_fine() -> None:
    assert len(decompress(gzip.compress(bytes(1000)), "gzip", 1000)) == 1000
    with pytest.raises(TooLargeError):
        decompress(gzip.compress(bytes(1001)), "gzip", 1000)
    with pytest.raises(TooLargeError):
        decompress(bytes(1001), "identity", 1000)


@pytest.mark.parametrize("coding", ["gzip", "zstd", "GZIP"])
def test_a_wrong_label_is_named(coding) -> None:
    with pytest.raises(DecodeError, match=f"not {coding.lower()} data"):
        decompress((BOMBS / "plain.json").read_bytes(), coding)


@pytest.mark.parametrize(("pack", "coding"), [(gzip.compress, "gzip"), (zstd, "zstd")])
def test_cut_short_is_told_from_damaged(pack, coding) -> None:
    packed = pack(bytes(range(256)) * 50)
    for cut in (0, 3, len(packed) // 2, len(packed) - 1):
        with pytest.raises(DecodeError, match="too early"):
            decompress(packed[:cut], coding)
        with pytest.raises(Truncated):
            list(inflate([packed[:cut]], coding))


def test_damage_within_is_an_error() -> None:
    packed = bytearray(gzip.compress(b"some text that is long enough"))
    packed[-6] ^= 1
    with pytest.raises(DecodeError):
        decompress(bytes(packed), "gzip")


def test_unknown_codings() -> None:
    assert decompress(b"x", "") == b"x"
    with pytest.raises(DecodeError, match="not supported"):
        decompress(b"x", "br")
