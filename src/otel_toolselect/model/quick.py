"""Frozen dataclasses that are made for every span: constructed in a third of the time, or a fifth.

The `__init__` that `dataclass(frozen=True)` writes sets each field by a call of `object.__setattr__`, which for twenty
fields takes longer than reading the span. Here an instance, while it is being made, is of an unfrozen class with the
same slots, where fields are set by plain assignment; what comes out is as frozen as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, ParamSpec, TypeVar, cast

T = TypeVar("T")
P = ParamSpec("P")


def quick(cls: type[T]) -> type[T]:
    """The class, a frozen dataclass with slots and without `__post_init__`, with a quicker `__init__`."""
    made = _written(cls, "__init__", "self", "_put(self, '__class__', _draft)")
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**cls.__init__.__annotations__}
    cls.__init__ = made  # type: ignore[method-assign]
    return cls


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """A function that makes what the call of a `quick` class makes, for the places that make most of them: a class
    packs the arguments of its call into a tuple and a dict for `__init__`, which takes longer than setting the fields.
    """
    known = cast(Any, cls)
    if not isinstance(getattr(known, "__init__", None), type(maker)) or "_draft" not in known.__init__.__globals__:
        raise TypeError(f"{known.__name__} is not quick")
    made = _written(known, f"make_{known.__name__}", "", "self = _new(_draft)", "return self")
    return cast("Callable[P, T]", made)


def _written(cls: type[Any], name: str, first: str, begin: str, end: str = "pass") -> Any:
    """A function with the fields as parameters that sets them between `begin` and `end`."""
    held = fields(cls)
    if hasattr(cls, "__post_init__") or not hasattr(cls, "__slots__") or not all(f.init for f in held):
        raise TypeError(f"{cls.__name__} is no plain dataclass with slots")
    draft = type(f"_{cls.__name__}Draft", (), {"__slots__": tuple(f.name for f in held)})
    known: dict[str, Any] = {"_cls": cls, "_draft": draft, "_put": object.__setattr__, "_missing": MISSING}
    known["_new"] = object.__new__
    parameters, body = [first] if first else [], [begin]
    for f in held:
        value = f.name
        if f.default is not MISSING:
            known[f"_default_{f.name}"] = f.default
            parameters.append(f"{f.name}=_default_{f.name}")
        elif f.default_factory is not MISSING:
            known[f"_make_{f.name}"] = f.default_factory
            parameters.append(f"{f.name}=_missing")
            value = f"_make_{f.name}() if {f.name} is _missing else {f.name}"
        else:
            parameters.append(f.name)
        body.append(f"self.{f.name} = {value}")
    lines = "\n".join(f"  {line}" for line in (*body, "self.__class__ = _cls", end))
    exec(f"def {name}({', '.join(parameters)}):\n{lines}\n", known)  # noqa: S102 as dataclasses do: names of fields only
    return known[name]
