"""What a preflight found: for people, for programs, and as JUnit XML for CI (R55)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from otel_toolselect.model.preflight import Concern, Preflight
from otel_toolselect.reports._layout import Block, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps, jsonable
from otel_toolselect.reports._ruletests import xml_text
from otel_toolselect.reports._words import count

SCHEMA = "toolselect.preflight/1"
_STYLES: dict[str, Style] = {"error": "bad", "warning": "warn", "note": "dim"}
_ORDER = tuple(_STYLES)


def preflight_table(found: Preflight, *, colour: bool = False, width: int = 100) -> str:
    return paint(_blocks(found), colour=colour, width=width)


def preflight_json(found: Preflight) -> str:
    """One JSON object; times in seconds."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "name": found.name,
        "servers": [
            {
                "name": offer.server,
                "tools": [tool.name for tool in offer.tools],
                "failure": offer.failure,
                "seconds": round(offer.seconds, 3),
            }
            for offer in found.offers
        ],
        "checks": {"passed": found.passed, "n": found.checks},
        "concerns": [jsonable(concern) for concern in _sorted(found)],
    }
    return dumps(document, indent=2) + "\n"


def preflight_junit(found: Preflight) -> str:
    """A test case per server and tool: errors are failures, warnings stand in the output."""
    places = [(offer.server, "") for offer in found.offers]
    places += [(offer.server, tool.name) for offer in found.offers for tool in offer.tools]
    places += [(c.server, c.tool) for c in found.concerns]
    root = ET.Element("testsuites", name="toolselect preflight")
    suite = ET.SubElement(root, "testsuite", name=xml_text(found.name))
    failures = 0
    for server, tool in dict.fromkeys(places):
        mine = [c for c in _sorted(found) if (c.server, c.tool) == (server, tool)]
        case = ET.SubElement(suite, "testcase", name=xml_text(tool or "answers"), classname=xml_text(server))
        errors = [c for c in mine if c.severity == "error"]
        failures += bool(errors)
        for one in errors[:1]:
            said = "\n".join("\n".join((c.message, *c.details)) for c in errors)
            ET.SubElement(case, "failure", message=xml_text(one.message), type=one.kind).text = xml_text(said)
        rest = [f"{c.severity}: {c.message}" for c in mine if c.severity != "error"]
        if rest:
            ET.SubElement(case, "system-out").text = xml_text("\n".join(rest))
    for element in (root, suite):
        element.set("tests", str(len(suite)))
        element.set("failures", str(failures))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _sorted(found: Preflight) -> list[Concern]:
    return sorted(found.concerns, key=lambda c: (_ORDER.index(c.severity), c.kind, c.server, c.tool, c.line, c.message))


def _blocks(found: Preflight) -> Iterator[Block]:
    yield Heading(f"{found.name}: {count(len(found.offers), 'server')}")
    for offer in found.offers:
        if offer.failure is not None:
            yield Line(f"{offer.server}: out of reach", "bad", 2)
        else:
            yield Line(f"{offer.server}: {count(len(offer.tools), 'tool')}", "good", 2)
    concerns = _sorted(found)
    for severity in ("error", "warning"):
        mine = [c for c in concerns if c.severity == severity]
        if mine:
            yield Heading(f"{severity}s")
        for one in mine:
            place = f"{one.server}/{one.tool}" if one.tool and one.server else one.tool or one.server
            at = f" ({found.path}:{one.line})" if one.line else ""
            yield Line(f"{one.kind}  {place}{at}: {one.message}", _STYLES[severity], 2)
            for detail in one.details:
                yield Line(detail, "dim", 6)
    notes = [c for c in concerns if c.severity == "note"]
    unchecked = [c.tool for c in notes if c.kind == "unchecked"]
    if notes:
        yield Heading("notes")
    if unchecked:
        yield Line(f"no check calls {', '.join(unchecked)}", "dim", 2)
    for one in notes:
        if one.kind != "unchecked":
            yield Line(f"{one.kind}  {one.server}/{one.tool}: {one.message}", "dim", 2)
    yield Heading("Total")
    errors = sum(c.severity == "error" for c in concerns)
    warnings = sum(c.severity == "warning" for c in concerns)
    said = f"{found.passed} of {count(found.checks, 'check')} passed, {count(errors, 'error')}"
    yield Line(f"{said}, {count(warnings, 'warning')}", "bad" if errors else "good", 2)
