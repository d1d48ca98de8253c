"""Classes made quickly are the dataclasses that they were."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from otel_toolselect.model.observations import ToolUse
from otel_toolselect.model.quick import maker, quick
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span


@quick
@dataclass(frozen=True, slots=True)
class Made:
    name: str
    size: int = 3
    tags: dict[str, int] = field(default_factory=dict)


def test_fields_defaults_and_factories() -> None:
    one, other = Made("a"), Made("a", size=4, tags={"x": 1})
    assert (one.name, one.size, one.tags) == ("a", 3, {})
    assert (other.name, other.size, other.tags) == ("a", 4, {"x": 1})
    assert one.tags is not Made("a").tags
    assert type(one) is Made


def test_it_is_frozen_equal_hashable_and_shown_as_before() -> None:
    one = Span("t", "s", name="x")
    with pytest.raises(FrozenInstanceError):
        one.name = "y"  # type: ignore[misc]
    assert one == replace(one)
    assert one != replace(one, name="y")
    assert repr(Made("a")) == "Made(name='a', size=3, tags={})"
    assert hash(Made("a", tags=())) == hash(Made("a", tags=()))  # type: ignore[arg-type]


def test_it_can_be_copied_and_pickled() -> None:
    run = Run("r", "t", ("t",), ())
    for copied in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert (copied, type(copied)) == (run, Run)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="name"):
        ToolUse()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="colour"):
        Made("a", colour=1)  # type: ignore[call-arg]
    assert list(inspect.signature(Made).parameters) == ["name", "size", "tags"]


def test_a_class_that_needs_more_than_fields_set_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        size: int

        def __post_init__(self) -> None:
            assert self.size

    with pytest.raises(TypeError, match="Checked"):
        quick(Checked)


make = maker(Made)


def test_what_a_maker_makes_is_what_the_class_makes() -> None:
    assert make("a") == Made("a")
    assert make(size=4, name="b", tags={"x": 1}) == Made("b", 4, {"x": 1})
    assert (type(make("a")), repr(make("a"))) == (Made, repr(Made("a")))
    assert make("a").tags is not make("a").tags
    with pytest.raises(FrozenInstanceError):
        make("a").size = 4  # type: ignore[misc]
    with pytest.raises(TypeError, match="name"):
        make()  # type: ignore[call-arg]
    assert pickle.loads(pickle.dumps(make("a"))) == Made("a")


def test_only_quick_classes_have_makers() -> None:
    @dataclass(frozen=True, slots=True)
    class Slow:
        size: int

    with pytest.raises(TypeError, match="Slow is not quick"):
        maker(Slow)
