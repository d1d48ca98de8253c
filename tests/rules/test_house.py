"""The house's rules for plug-ins: every kind and every matcher has its test, and none depends on another's YAML."""

from __future__ import annotations

from pathlib import Path

from otel_toolselect.rules import pairing
from otel_toolselect.rules.expect import kinds

HERE = Path(__file__).parent


def test_every_kind_has_its_own_test_file() -> None:
    modules = {type(kind).__module__.rpartition(".")[2] for kind in kinds().values()}
    assert modules == {p.stem.removeprefix("test_") for p in (HERE / "kinds").glob("test_*.py")}


def test_pairing_is_a_maximum_one() -> None:
    # greedy would give the only fit of the second expectation to the first one
    assert pairing.pair([[0, 1], [0]]) == {1: 0, 0: 1}
    assert pairing.pair([[0], [0]]) == {0: 0}
    assert pairing.pair([]) == {}
    assert len(pairing.pair([[i, i + 1] for i in range(50)] + [[0]])) == 51
