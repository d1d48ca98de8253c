"""The case's pinned tools against the catalog that the run was offered (R18), a finding of its own that moves no layer.

A tool that lands later, or one that is gone, changes what the case measures: that is said, never silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import RunView

NAME = "pinned"


@dataclass(frozen=True, slots=True)
class PinnedCheck:
    tools: frozenset[str]
    catalog: str | None
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = False

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        run = view.run
        if self.catalog is not None and run.catalog_id not in (None, self.catalog):
            said = "the run was offered another catalog than the case pins"
            evidence: dict[str, object] = {"pinned": self.catalog, "offered": run.catalog_id}
            return (Finding(NAME, "selection", "needs_review", said, evidence),)
        if not self.tools or run.tools is None:
            return ()
        offered = frozenset(view.offered)
        added, gone = sorted(offered - self.tools), sorted(self.tools - offered)
        if not added and not gone:
            return ()
        parts = [f"added: {', '.join(added)}"] if added else []
        parts += [f"gone: {', '.join(gone)}"] if gone else []
        said = f"the offered tools are not those that the case pins ({'; '.join(parts)})"
        return (Finding(NAME, "selection", "needs_review", said, {"added": added, "gone": gone}),)


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        if draft.pinned is None and draft.catalog is None:
            return None
        return PinnedCheck(frozenset(draft.pinned or ()), draft.catalog)


PLUGIN = _Kind()
