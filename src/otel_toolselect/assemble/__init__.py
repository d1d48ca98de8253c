"""Assembly: observations of any number of traces become runs (design section 4).

Pure: the outcome depends on the set of observations alone, not on their order, their split into requests or repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_toolselect.assemble._build import build
from otel_toolselect.assemble._identity import DEFAULT_ATTRIBUTES, CaseAttributes
from otel_toolselect.assemble._stitch import stitch
from otel_toolselect.assemble._tree import Group, Key, Tree, groups, ident, order
from otel_toolselect.assemble._turns import clusters
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run

__all__ = ["DEFAULT_ATTRIBUTES", "CaseAttributes", "assemble"]


def assemble(observations: Iterable[Observation], names: CaseAttributes = DEFAULT_ATTRIBUTES) -> list[Run]:
    """All runs, by start time then id. `names`: which attributes identify a case."""
    listed = sorted(observations, key=order)
    tree = Tree(listed)
    models = [o for o in listed if o.kind == "model"]
    generations = clusters(models, tree)
    by_key = groups(listed, tree)
    _rehome(generations, by_key, tree)
    ready = [g for g in stitch(list(by_key.values()), names) if _is_run(g)]
    home = {ident(o): id(g) for g in ready for o in g.members}
    shares: dict[int, list[list[Observation]]] = {}
    for cluster in generations:
        target = home.get(ident(cluster[0]))
        if target is not None:
            shares.setdefault(target, []).append(cluster)
    runs = [build(g, _proper(shares.get(id(g), [])), tree, names) for g in ready]
    return sorted(runs, key=lambda r: (r.start_ns, r.run_id))


def _is_run(group: Group) -> bool:
    """An agent span always is a run, be it empty; other spans only when one of them decides or offers something."""
    return group.root is not None or any(o.kind in ("model", "tool", "catalog") for o in group.members)


def _proper(generations: list[list[Observation]]) -> list[list[Observation]]:
    """Without the copies on a message bus, where the model's own spans are there."""
    proper = [c for c in generations if not all(o.relayed for o in c)]
    return proper or generations


def _rehome(generations: Sequence[list[Observation]], by_key: dict[Key, Group], tree: Tree) -> None:
    """One generation recorded in two places (a second instrumentation without context) belongs where an agent is."""
    home = {ident(o): key for key, g in by_key.items() for o in g.members}
    for cluster in generations:
        keys = {home[ident(o)] for o in cluster}
        if len(keys) == 1:
            continue
        best = min(keys, key=lambda k: (by_key[k].root is None, -len(by_key[k].members), k))
        for o in cluster:
            old = home[ident(o)]
            if old != best:
                by_key[old].members.remove(o)
                by_key[best].members.append(o)
                home[ident(o)] = best
    for key in [k for k, g in by_key.items() if not g.members]:
        del by_key[key]
