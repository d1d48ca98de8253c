"""Outcomes of rule tests: as a diff for people, JSON for programs, JUnit XML for CI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from otel_toolselect.model.ruletests import Difference, TestOutcome
from otel_toolselect.reports._layout import Block, Heading, Line, paint
from otel_toolselect.reports._plain import dumps

SCHEMA = "toolselect.ruletests/1"
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def outcomes_table(outcomes: Sequence[TestOutcome], *, colour: bool, width: int) -> str:
    """One line per file, and for each failed test what was expected (-) and what came (+)."""
    blocks: list[Block] = []
    for path in dict.fromkeys(o.path for o in outcomes):
        mine = [o for o in outcomes if o.path == path]
        failed = [o for o in mine if not o.passed]
        said = f"{len(mine) - len(failed)} of {len(mine)} passed"
        blocks.append(Line(f"{path}: {said}", "bad" if failed else "good"))
        for outcome in failed:
            blocks.append(Line(f"FAIL {path}:{outcome.line} {outcome.name}", "bold", 2))
            if outcome.error is not None:
                blocks += [Line(line, "bad", 6) for line in outcome.error.splitlines()]
            for d in outcome.differences:
                blocks += _diff(path, d)
    failures = sum(not o.passed for o in outcomes)
    blocks.append(Heading("Total"))
    blocks.append(Line(f"{len(outcomes) - failures} passed, {failures} failed", "bad" if failures else "good", 2))
    return paint(blocks, colour=colour, width=width)


def _diff(path: str, d: Difference) -> list[Block]:
    found: list[Block] = [
        Line(f"{d.rule}, line {d.line}: {d.what}", "", 6),
        Line(f"- {d.expected}", "good", 8),
        Line(f"+ {d.got}", "bad", 8),
    ]
    return [*found, Line(f"why: {d.why}", "dim", 8)] if d.why else found


def outcomes_json(outcomes: Sequence[TestOutcome]) -> str:
    """One JSON object."""
    failures = sum(not o.passed for o in outcomes)
    tests = [
        {
            "file": o.path,
            "line": o.line,
            "name": o.name,
            "passed": o.passed,
            "error": o.error,
            "differences": [
                {"rule": d.rule, "what": d.what, "expected": d.expected, "got": d.got, "why": d.why, "line": d.line}
                for d in o.differences
            ],
        }
        for o in outcomes
    ]
    whole = {"schema": SCHEMA, "passed": len(outcomes) - failures, "failed": failures, "tests": tests}
    return dumps(whole) + "\n"


def outcomes_junit(outcomes: Sequence[TestOutcome]) -> str:
    """JUnit XML as CI systems read it: a suite per file, a case per test."""
    root = ET.Element("testsuites", name="toolselect rules test", **_counts(outcomes))
    for path in dict.fromkeys(o.path for o in outcomes):
        mine = [o for o in outcomes if o.path == path]
        suite = ET.SubElement(root, "testsuite", name=xml_text(path), **_counts(mine))
        for o in mine:
            case = ET.SubElement(
                suite,
                "testcase",
                name=xml_text(o.name),
                classname=xml_text(path),
                file=xml_text(path),
                line=str(o.line),
                time=f"{o.seconds:.3f}",
            )
            if o.error is not None:
                ET.SubElement(case, "error", message=xml_text(o.error.splitlines()[0])).text = xml_text(o.error)
            elif o.differences:
                first = o.differences[0]
                said = f"{first.rule}: {first.what} is {first.got}, expected {first.expected}"
                ET.SubElement(case, "failure", message=xml_text(said)).text = xml_text(_text(o.differences))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(outcomes: Sequence[TestOutcome]) -> dict[str, Any]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(sum(o.error is None and bool(o.differences) for o in outcomes)),
        "errors": str(sum(o.error is not None for o in outcomes)),
        "skipped": "0",
        "time": f"{sum(o.seconds for o in outcomes):.3f}",
    }


def _text(differences: Sequence[Difference]) -> str:
    parts = [f"{d.rule}, line {d.line}: {d.what}\n- {d.expected}\n+ {d.got}\nwhy: {d.why}" for d in differences]
    return "\n\n".join(parts)


def xml_text(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold, even escaped."""
    return "".join(c if c in "\t\n\r" or (c >= " " and not _NOT_XML.match(c)) else "\ufffd" for c in text)
