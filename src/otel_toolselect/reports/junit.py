"""JUnit XML, for CI servers (R54): one test case per judged run, and one per case that has no run.

failed run -> failure, typed by the failure taxonomy, with each failed layer's sentence and evidence; a check that
crashed -> error; an excluded run, one that a person must review, and a case without a run -> skipped, saying why: none
of them passed, and none of them is the agent's fault. A case with one run has its own name; several attempts carry
number or run id. Element order and attributes follow the schema that Ant wrote and that Jenkins and GitLab read.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import LayerVerdict, RunVerdict
from otel_toolselect.reports._material import NOTHING, Material
from otel_toolselect.reports._plain import dumps, sorted_members
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._worst import failed_layers

MESSAGE_LENGTH = 300
NO_TIME = "1970-01-01T00:00:00"  # the schema demands a time; runs without one have none to tell


class JUnitWriter:
    """Writes one `testsuites` document with one suite."""

    name = "junit"

    def render(self, report: Report, *, colour: bool = False, width: int = 0) -> str:
        return self.render_with(report, NOTHING)

    def render_with(self, report: Report, material: Material, *, colour: bool = False, width: int = 0) -> str:
        root = Element("testsuites")
        suite = SubElement(root, "testsuite")
        _properties(suite, report)
        attempts = Counter(run.case_id for run in report.runs)
        for run in report.runs:
            case = SubElement(suite, "testcase", _named(report, run, alone=attempts[run.case_id] == 1))
            case.set("time", _seconds(run, material))
            _outcome(case, run, material)
        for case_id in report.cases_without_run:
            case = SubElement(suite, "testcase", classname=visible(report.suite), name=visible(case_id), time="0")
            SubElement(case, "skipped", message="no run of this case was found")
        SubElement(suite, "system-out").text = ""
        SubElement(suite, "system-err").text = ""
        _totals(suite, report, material)
        indent(root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _properties(suite: Element, report: Report) -> None:
    holder = SubElement(suite, "properties")
    known = {
        "policy_version": {run.policy_version for run in report.runs},
        "model": {run.model for run in report.runs},
        "prompt_version": {run.prompt_version for run in report.runs},
        "catalog_id": {run.catalog_id for run in report.runs},
    }
    for name, values in known.items():
        for value in sorted(v for v in values if v):
            SubElement(holder, "property", name=name, value=visible(value))


def _named(report: Report, run: RunVerdict, *, alone: bool) -> dict[str, str]:
    mark = "" if alone else f" [{run.run_id}]" if run.attempt is None else f" [attempt {run.attempt}, {run.run_id}]"
    return {"classname": visible(report.suite), "name": visible(run.case_id + mark)}


def _seconds(run: RunVerdict, material: Material) -> str:
    seen = material.runs.get(run.run_id)
    return "0" if seen is None or seen.duration_ns is None else f"{seen.duration_ns / 1e9:.3f}"


def _outcome(case: Element, run: RunVerdict, material: Material) -> None:
    failed = failed_layers(run)
    unsure = [name for name, verdict in run.layers.items() if verdict.status == "needs_review"]
    if run.excluded:
        reason = next((v.explanation for v in run.layers.values()), "")
        SubElement(case, "skipped", message=_message(f"excluded ({run.excluded}): {reason}"))
    elif failed:
        said = "; ".join(f"{layer}: {run.layers[layer].explanation}" for layer in failed)
        element = SubElement(case, "failure", message=_message(said), type=run.failure or "failed")
        element.text = _evidence(run, material, [(str(name), run.layers[name]) for name in failed])
    elif run.failure == "harness_defect":
        said = "; ".join(f"{layer}: {run.layers[layer].explanation}" for layer in unsure)
        element = SubElement(case, "error", message=_message(said), type=run.failure)
        element.text = _evidence(run, material, [(str(name), run.layers[name]) for name in unsure])
    elif unsure:
        said = "; ".join(f"{layer}: {run.layers[layer].explanation}" for layer in unsure)
        SubElement(case, "skipped", message=_message(f"needs review: {said}"))


def _message(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= MESSAGE_LENGTH else flat[: MESSAGE_LENGTH - 1] + "…"


def _evidence(run: RunVerdict, material: Material, layers: list[tuple[str, LayerVerdict]]) -> str:
    facts = {
        "case": material.place(run.case_id),
        "request": run.request or "",
        "wanted / got": ", ".join(f"{c.expected} / {c.observed}" for c in run.cells if c.expected != c.observed),
        "first to look": run.owner or "",
        "run": run.run_id,
        "trace": run.trace_id,
    }
    lines = [f"{name}: {value}" for name, value in facts.items() if value]
    for name, verdict in layers:
        lines += [f"{name}: {verdict.explanation}", f"  evidence: {dumps(sorted_members(verdict.evidence))}"]
    return visible("\n".join(lines))


def _totals(suite: Element, report: Report, material: Material) -> None:
    starts = [run.start_ns for run in report.runs if run.start_ns]
    spent = sum(float(_seconds(run, material)) for run in report.runs)
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    facts = {"name": visible(report.suite), "package": "toolselect", "id": "0", "hostname": "localhost"}
    facts |= {name: str(n) for name, n in counts.items()}
    facts |= {"timestamp": _time(min(starts, default=0)), "time": f"{spent:.3f}"}
    for name, value in facts.items():
        suite.set(name, value)


def _time(ns: int) -> str:
    try:
        return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S") if ns else NO_TIME
    except (OverflowError, ValueError, OSError):  # a broken clock is not our crash
        return NO_TIME


PLUGIN = JUnitWriter()
