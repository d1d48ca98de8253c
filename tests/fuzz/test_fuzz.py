"""The fuzzed functions under test in seconds: the kept corpus, and inputs made from it by the fuzzer's own mutators."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import Batch, Span
from tests.fuzz import mutators, targets
from tests.fuzz.soundness import check_batch, check_error

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(targets.TARGETS)
CORPUS_BYTES = 300_000
SOUND = Span("0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7")


def kept(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


@pytest.mark.parametrize("name", NAMES)
def test_the_kept_corpus(name: str) -> None:
    inputs = kept(name)
    assert inputs
    for data in inputs:
        targets.run(name, data)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_inputs_near_the_corpus(name: str, data: st.DataObject) -> None:
    found = data.draw(st.sampled_from(kept(name)))
    for seed in data.draw(st.lists(st.integers(0, 2**32), min_size=1, max_size=8)):
        found = targets.mutated(name, found, seed)[: 64 * 1024]
        targets.run(name, found)


@pytest.mark.parametrize("name", NAMES)
@given(found=st.binary(max_size=200))
def test_any_bytes(name: str, found: bytes) -> None:
    targets.run(name, found)


def test_the_corpus_is_small_and_has_a_folder_for_each_target() -> None:
    assert sorted(path.name for path in CORPUS.iterdir()) == NAMES
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < CORPUS_BYTES


@pytest.mark.parametrize(
    "span",
    [
        replace(SOUND, trace_id=""),
        replace(SOUND, span_id="0" * 16),
        replace(SOUND, trace_id=SOUND.trace_id.upper()),
        replace(SOUND, parent_span_id="abc"),
        replace(SOUND, end_ns=2**63),
        replace(SOUND, kind=6),
        replace(SOUND, name="\ud800"),
        replace(SOUND, attributes={"a": 2**63}),
        replace(SOUND, attributes={"a": object()}),
        replace(SOUND, resource={"a": [[["too deep"]]]}),
    ],
)
def test_what_is_unsound_is_found(span: Span) -> None:
    limits = replace(targets.LIMITS, max_depth=2)
    check_batch(Batch(spans=(SOUND,)), limits)
    with pytest.raises((AssertionError, UnicodeEncodeError)):
        check_batch(Batch(spans=(span,)), limits)


def test_a_message_that_carries_the_body_back_is_found() -> None:
    check_error(DecodeError("not OTLP", where="body"))
    with pytest.raises(AssertionError):
        check_error(DecodeError("x" * 3000, where="body"))


@pytest.mark.parametrize("name", ["traces_protobuf", "json"])
def test_mutators_get_past_the_door(name: str) -> None:
    """Most changed inputs are still requests: a fuzzer that only meets the outermost check tests nothing else."""
    inputs, passed = kept(name), 0
    for seed in range(200):
        data = targets.mutated(name, random.Random(seed).choice(inputs), seed)
        fields = mutators._parse(data, 0) if name == "traces_protobuf" else data[:1] == b"{"
        passed += bool(fields)
    assert passed > 100
