"""Triage for people, for a pull request, and for programs (R51)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otel_toolselect.model.triage import FIRST_ACTION, Bundle, Cluster, Triage
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, paint
from otel_toolselect.reports._plain import dumps, short, sorted_members
from otel_toolselect.reports._records import event_record
from otel_toolselect.reports._text import code, code_cell
from otel_toolselect.reports._timeline import happened
from otel_toolselect.reports._words import count
from otel_toolselect.reports.markdown import events, folded, table

SCHEMA = "toolselect.triage/1"
REQUEST_LENGTH = 300


def titled(cluster: Cluster) -> str:
    """What went wrong, in words."""
    if cluster.layer == FIRST_ACTION:
        return f"wanted {cluster.expected}, got {cluster.observed}"
    return f"{cluster.layer} failed after {cluster.observed}"


def triage_table(found: Triage, *, per: int, colour: bool, width: int) -> str:
    """Clusters as one table, then `per` bundles of each, then the runs to review and the sample of passes."""
    return paint(_blocks(found, per, width), colour=colour, width=width)


def _blocks(found: Triage, per: int, width: int) -> Iterator[Block]:
    yield Heading(f"{found.suite}: {found.failed} of {count(found.judged, 'judged run')} failed")
    if found.clusters:
        yield Line("score = risk x frequency: the summed risk weights of the runs", "dim")
        titles = ("#", "score", "runs", "cases")
        columns = (*(Column(t, right=True) for t in titles), Column("what"), Column("owner"))
        rows = [_row(i, cluster) for i, cluster in enumerate(found.clusters, start=1)]
        yield Grid(columns, tuple(rows))
    for i, cluster in enumerate(found.clusters, start=1):
        kinds = ", ".join(f"{kind} {n}" for kind, n in cluster.failures)
        yield Heading(f"{i}. {titled(cluster)} ({cluster.owner}; {kinds})")
        for bundle in cluster.bundles[:per]:
            yield from _bundle(bundle, width)
        if len(cluster.bundles) > per:
            yield Line(f"and {count(len(cluster.bundles) - per, 'more run')} (--per N shows more)", "dim", indent=2)
    yield from _others("to review: the signals do not suffice to decide", found.review, width)
    yield from _others(f"a sample of the {found.passed} passes, to check the oracle", found.passes, width)


def _row(number: int, cluster: Cluster) -> tuple[Cell, ...]:
    counts = (str(number), f"{cluster.score:g}", str(len(cluster.bundles)), str(cluster.cases))
    return (*map(Cell, counts), Cell(titled(cluster), "bold"), Cell(cluster.owner))


def _others(title: str, bundles: tuple[Bundle, ...], width: int) -> Iterator[Block]:
    if bundles:
        yield Heading(title)
    for bundle in bundles:
        yield from _bundle(bundle, width)


def facts(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """The compact bundle: case, prompt, catalog, rule, tool errors, how to rerun."""
    verdict = bundle.verdict
    yield "case", bundle.place
    yield "prompt", short(verdict.request or "", REQUEST_LENGTH)
    yield "risk", bundle.risk
    versions = {"model": verdict.model, "prompt": verdict.prompt_version, "catalog": verdict.catalog_id}
    versions["policy"] = verdict.policy_version
    yield "versions", ", ".join(f"{name} {_brief(value)}" for name, value in versions.items() if value)
    if bundle.offered is not None:
        yield "expected tool offered", "yes" if bundle.offered else "no: the catalog has a gap"
    for name, layer in bundle.failed:
        yield name, layer.explanation
    if bundle.broken:
        yield "rules", ", ".join(dict.fromkeys(finding.check for finding in bundle.broken))
    errors = [f"{e.tool}: {e.error}{' (infrastructure)' if e.infra else ''}" for e in bundle.errors]
    yield "tool errors", "; ".join(errors)
    yield "run", f"{verdict.run_id}, trace {verdict.trace_id}"
    for line in bundle.rerun:
        yield "again", line


def _brief(value: str) -> str:
    return value[:19] if value.startswith("sha256:") else value


def _bundle(bundle: Bundle, width: int) -> Iterator[Block]:
    verdict = bundle.verdict
    attempt = "" if verdict.attempt is None else f" #{verdict.attempt}"
    yield Line(f"{verdict.case_id}{attempt}", "bad" if bundle.failed else "bold", indent=2)
    for name, value in facts(bundle):
        if value:
            yield Line(f"{name}: {value}", indent=5)
    if bundle.run is not None:
        yield from happened(bundle.run, width, indent=5)


def triage_markdown(found: Triage, *, per: int) -> str:
    """Fit for an issue: the ranking, and the bundles folded."""
    return "\n".join(_markdown(found, per)) + "\n"


def _markdown(found: Triage, per: int) -> Iterator[str]:
    yield f"### triage {code(found.suite)}: {found.failed} of {count(found.judged, 'judged run')} failed"
    if found.clusters:
        rows = [
            (f"{c.score:g}", str(len(c.bundles)), str(c.cases), code_cell(titled(c)), code_cell(c.owner))
            for c in found.clusters
        ]
        yield from table(("score>", "runs>", "cases>", "what", "owner"), rows)
    for cluster in found.clusters:
        yield ""
        yield f"#### {code(titled(cluster))}, {code(cluster.owner)}"
        for bundle in cluster.bundles[:per]:
            yield from _markdown_bundle(bundle)
        if len(cluster.bundles) > per:
            yield ""
            yield f"and {count(len(cluster.bundles) - per, 'more run')}."
    for title, bundles in (("To review", found.review), (f"A sample of the {found.passed} passes", found.passes)):
        if bundles:
            yield ""
            yield f"#### {title}"
        for bundle in bundles:
            yield from _markdown_bundle(bundle)


def _markdown_bundle(bundle: Bundle) -> Iterator[str]:
    yield ""
    yield f"{code(bundle.verdict.case_id)}"
    yield ""
    yield from (f"- {name}: {code(value)}" for name, value in facts(bundle) if value)
    if bundle.run is not None and bundle.run.events:
        yield from folded("What the agent did", events(bundle.run))


def triage_json(found: Triage) -> str:
    """Everything, schema `toolselect.triage/1`."""
    document = {
        "schema": SCHEMA,
        "suite": found.suite,
        "judged": found.judged,
        "failed": found.failed,
        "passed": found.passed,
        "clusters": [_cluster_record(cluster) for cluster in found.clusters],
        "review": [_record(bundle) for bundle in found.review],
        "passes": [_record(bundle) for bundle in found.passes],
    }
    return dumps(document, indent=2) + "\n"


def _cluster_record(cluster: Cluster) -> dict[str, Any]:
    return {
        "expected": cluster.expected,
        "observed": cluster.observed,
        "layer": cluster.layer,
        "owner": cluster.owner,
        "failures": dict(cluster.failures),
        "score": cluster.score,
        "runs": len(cluster.bundles),
        "cases": cluster.cases,
        "bundles": [_record(bundle) for bundle in cluster.bundles],
    }


def _record(bundle: Bundle) -> dict[str, Any]:
    verdict, run = bundle.verdict, bundle.run
    return {
        "run_id": verdict.run_id,
        "trace_id": verdict.trace_id,
        "case_id": verdict.case_id,
        "attempt": verdict.attempt,
        "case": bundle.place,
        "prompt": verdict.request,
        "risk": bundle.risk,
        "weight": bundle.weight,
        "failure": verdict.failure,
        "owner": verdict.owner,
        "model": verdict.model,
        "prompt_version": verdict.prompt_version,
        "catalog_id": verdict.catalog_id,
        "policy_version": verdict.policy_version,
        "tools_offered": None if run is None else run.tools_offered,
        "expected_offered": bundle.offered,
        "layers": {
            name: {"explanation": layer.explanation, "evidence": sorted_members(layer.evidence)}
            for name, layer in bundle.failed
        },
        "rules": [{"check": f.check, "explanation": f.explanation} for f in bundle.broken],
        "tool_errors": [{"tool": e.tool, "error": e.error, "infra": e.infra} for e in bundle.errors],
        "events": [] if run is None else [event_record(run, e) for e in sorted(run.events, key=lambda e: e.seq)],
        "rerun": list(bundle.rerun),
    }
