"""Nothing that is made on the way from spans to verdicts refers to itself in a circle: such objects stay, with all
texts of their runs, until the collector comes by, and its look at them costs more than making them.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from otel_toolselect.assemble import assemble, bonds
from otel_toolselect.dialects import read
from otel_toolselect.judge.panel import Panel
from otel_toolselect.rules.rulefiles import load_rules
from tests.builders import call, run
from tests.dialects.captures import FOLDER, Scenario, signals
from tests.judge.test_properties import ALLOWING, EXPECTS, STRICT, TOOLS

CAPTURES = sorted(FOLDER.glob("*/*.otlp.jsonl.gz"))
RULES = FOLDER.parents[2] / "rules"
PACKS = tuple(load_rules(file) for file in sorted(RULES.glob("*.yaml")) if ".test." not in file.name)
assert PACKS


@contextmanager
def uncollected() -> Iterator[list[object]]:
    """What only the collector would find, filled in at the end."""
    found: list[object] = []
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def circles(work: Callable[[], object]) -> Counter[str]:
    """Kinds of objects of ours that work leaves to the collector, the second time: what is loaded once may stay."""
    work()
    with uncollected() as found:
        work()
    kinds = Counter(type(o).__module__ + "." + type(o).__qualname__ for o in found)
    return Counter({kind: n for kind, n in kinds.items() if kind.startswith("otel_toolselect")})


class _Circle:
    def __init__(self) -> None:
        self.me = self


def test_a_circle_would_be_found() -> None:
    with uncollected() as found:
        _Circle()
    assert any(isinstance(o, _Circle) for o in found)


def test_reading_and_assembling_leave_none() -> None:
    given = [signals(Scenario(file.parent.name, file.name.split(".")[0])) for file in CAPTURES[::8]]
    assert len(given) > 20
    assert not circles(lambda: [(bonds(o), assemble(o)) for o in (read(*pair) for pair in given)])


@pytest.mark.parametrize("number", range(len(EXPECTS)))
def test_judging_leaves_none(number: int) -> None:
    planned = [call(tool, {"n": 1}, ok=tool != "book", error="declined" if tool == "book" else None) for tool in TOOLS]
    runs = [
        run(*planned[at:], *planned, case_id=f"c{number}", run_id=f"r{at}", tools=["search_orders", "book"])
        for at in range(3)
    ]
    panel = Panel((ALLOWING, STRICT), PACKS)
    assert not circles(lambda: panel.judge(runs))
