"""Assembly: observations of any number of traces become runs (design section 4).

Pure: the outcome depends on the set of observations alone, not on their order, their split into requests or repeats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from otel_toolselect.assemble._build import build, catalog_id
from otel_toolselect.assemble._identity import DEFAULT_ATTRIBUTES, CaseAttributes, run_id
from otel_toolselect.assemble._infra import is_infra
from otel_toolselect.assemble._stitch import decides, stitch
from otel_toolselect.assemble._ties import Bonds, bonds, components
from otel_toolselect.assemble._tree import Group, Key, Tree, groups, order
from otel_toolselect.assemble._turns import clusters
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import tenant_of

__all__ = [
    "DEFAULT_ATTRIBUTES",
    "Bonds",
    "CaseAttributes",
    "assemble",
    "bonds",
    "catalog_id",
    "components",
    "is_infra",
    "run_id",
]


def assemble(observations: Iterable[Observation], names: CaseAttributes = DEFAULT_ATTRIBUTES) -> list[Run]:
    """All runs, by start time then id. `names`: which attributes identify a case.

    No run holds anything of two tenants, whatever ids of traces, spans and calls they share: who may see a run sees all
    of it.
    """
    by_tenant: dict[str, list[Observation]] = defaultdict(list)
    for o in observations:
        by_tenant[tenant_of(o.span.resource)].append(o)
    runs = [run for theirs in by_tenant.values() for run in _of_one_tenant(theirs, names)]
    if len(by_tenant) > 1:
        runs.sort(key=_by_start)
    return runs


def _of_one_tenant(observations: Iterable[Observation], names: CaseAttributes) -> list[Run]:
    listed = sorted(observations, key=order)
    tree = Tree(listed)
    if len(tree.by_id) < len(listed):
        listed = sorted(tree.by_id.values(), key=order)
    generations = clusters([o for o in listed if o.kind == "model"], tree)
    by_key = groups(listed, tree)
    if len(by_key) == 1:  # nothing can be moved or joined, and everything is in order
        return [build(g, _proper(generations), tree, names) for g in by_key.values() if _is_run(g)]
    _rehome(generations, by_key)
    ready = [g for g in stitch(list(by_key.values()), names) if _is_run(g)]
    shares = {id(cluster[0]): cluster for cluster in generations}
    runs: list[Run] = []
    for group in ready:
        group.members.sort(key=order)
        mine = [shares[id(o)] for o in group.members if id(o) in shares]
        runs.append(build(group, _proper(mine), tree, names))
    runs.sort(key=_by_start)
    return runs


def _by_start(run: Run) -> tuple[int, str]:
    return run.start_ns, run.run_id


def _is_run(group: Group) -> bool:
    """An agent span always is a run, be it empty; other spans only when one of them decides or offers something."""
    return group.root is not None or decides(group.members)


def _proper(generations: list[list[Observation]]) -> list[list[Observation]]:
    """Without the copies on a message bus, where the model's own spans are there."""
    proper = [c for c in generations if not (c[0].relayed and all(o.relayed for o in c))]
    return proper or generations


def _rehome(generations: Sequence[list[Observation]], by_key: dict[Key, Group]) -> None:
    """One generation recorded in two places (a second instrumentation without context) belongs where an agent is."""
    several = [cluster for cluster in generations if len(cluster) > 1]
    if not several:
        return
    home = {id(o): key for key, g in by_key.items() for o in g.members}
    size = {key: len(g.members) for key, g in by_key.items()}
    left: set[Key] = set()
    for cluster in several:
        keys = {home[id(o)] for o in cluster}
        if len(keys) == 1:
            continue
        best = min(keys, key=lambda k: (by_key[k].root is None, -size[k], k))
        for o in cluster:
            old = home[id(o)]
            if old != best:
                by_key[best].members.append(o)
                home[id(o)] = best
                size[old] -= 1
                size[best] += 1
                left.add(old)
    for key in left:
        group = by_key[key]
        group.members = [o for o in group.members if home[id(o)] == key]
        if not group.members:
            del by_key[key]
