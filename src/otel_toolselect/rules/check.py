"""The two walls that every check stands between: how it is read from YAML, and how it judges a run.

A file in `kinds/` defines one `PLUGIN`, a Kind. Reading happens once, at load; judging is pure and re-parses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from otel_toolselect.model.verdicts import Cell, Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import RunView


class Check(Protocol):
    """One compiled check of one case.

    `decides` False: its findings are reported beside the layers and move none (ghost tools, a pinned catalog that
    changed), because design section 7 fixes what a layer's verdict is made of. `layer` is where a crash is filed.
    """

    @property
    def name(self) -> str: ...

    @property
    def layer(self) -> Layer: ...

    @property
    def decides(self) -> bool: ...

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        """What the check saw; nothing when it does not apply to this run."""
        ...


class Labelled(Protocol):
    """A check that knows what should have been chosen: it gives cells of the confusion matrix."""

    def cells(self, view: RunView) -> Sequence[Cell]:
        """Expected label x observed action, one per labelled turn; none where there is no decision to compare."""
        ...


class Kind(Protocol):
    """A kind of check. `name` is its key under `expect`."""

    @property
    def name(self) -> str: ...

    @property
    def implicit(self) -> bool:
        """True: always on, never written in a file; `parse` is not called."""
        ...

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        """Reads the value into `draft.configs[name]`, recording every problem; called before any `finish`."""
        ...

    def finish(self, draft: Draft) -> Check | None:
        """The compiled check, now that all keys are read; None when there is nothing to check."""
        ...


class AlwaysOn:
    """The part that kinds without a setting share: the loader never has them parse, it says that they take none."""

    implicit = True

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        raise NotImplementedError(f"{key.text} is always on and has no setting")
