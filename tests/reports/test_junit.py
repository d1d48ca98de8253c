"""JUnit XML: held to the schema that Ant wrote (attributes, their types, order of elements), which is stricter than
what Jenkins and GitLab ask for, and to what each outcome must become.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from otel_toolselect.reports import render
from tests.reports.samples import figures, material

COUNT, SECONDS = r"\d+", r"\d+(\.\d+)?"
WHEN = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
TEXT = r"(?s).*"
TOKEN = r"(?s).+"
# element: (attributes by pattern, optional attributes, children in order as a pattern over "name ")
SCHEMA: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "testsuites": ({}, {}, r"(testsuite )*"),
    "testsuite": (
        {
            "name": TOKEN,
            "timestamp": WHEN,
            "hostname": TOKEN,
            "tests": COUNT,
            "failures": COUNT,
            "errors": COUNT,
            "time": SECONDS,
            "package": TOKEN,
            "id": COUNT,
        },
        {"skipped": COUNT},
        r"properties (testcase )*system-out system-err ",
    ),
    "properties": ({}, {}, r"(property )*"),
    "property": ({"name": TOKEN, "value": TEXT}, {}, ""),
    "testcase": ({"name": TOKEN, "classname": TOKEN, "time": SECONDS}, {}, r"((skipped|error|failure) )?"),
    "skipped": ({}, {"message": TEXT}, ""),
    "failure": ({"type": TEXT}, {"message": TEXT}, ""),
    "error": ({"type": TEXT}, {"message": TEXT}, ""),
    "system-out": ({}, {}, ""),
    "system-err": ({}, {}, ""),
}


def check(element: Element) -> None:
    needed, optional, children = SCHEMA[element.tag]
    assert needed.keys() <= element.attrib.keys() <= (needed | optional).keys(), element.attrib
    for name, value in element.attrib.items():
        assert re.fullmatch((needed | optional)[name], value), (element.tag, name, value)
    assert re.fullmatch(children, "".join(f"{child.tag} " for child in element)), element.tag
    for child in element:
        check(child)


def document() -> Element:
    return ElementTree.fromstring(render("junit", figures(), material()))


def test_valid() -> None:
    check(document())
    check(ElementTree.fromstring(render("junit", figures())))
    check(ElementTree.fromstring(render("junit", figures([]))))


def test_the_schema_check_bites() -> None:
    broken = document()
    del broken[0].attrib["hostname"]
    try:
        check(broken)
    except AssertionError:
        return
    raise RuntimeError("a missing attribute was not seen")


def test_each_outcome() -> None:
    cases = {case.attrib["name"]: case for case in document().iter("testcase")}
    outcome = {name: [child.tag for child in case] for name, case in cases.items()}
    assert outcome == {
        "twice [attempt 1, run-0000]": [],
        "twice [attempt 2, run-0001]": ["failure"],
        "case-0002": ["failure"],
        "case-0003": ["failure"],
        "case-0004": [],
        "case-0005": ["skipped"],
        "case-0006": ["skipped"],
        "case-0007": ["error"],
        "case-0008": ["failure"],
        "case-0009": [],
        "never-run": ["skipped"],
        "nor-this": ["skipped"],
    }
    failure = cases["case-0003"][0]
    assert failure.attrib == {
        "message": "selection: unexpected refund; expected ask_followup",
        "type": "premature_action",
    }
    for part in ("suites/shop.yaml:13", "request 3", "first to look: safety", '"first_action": "refund"', "run-0003"):
        assert part in (failure.text or "")
    assert cases["case-0003"].attrib["time"] == "1.500"
    assert "infrastructure" in cases["case-0005"][0].attrib["message"]


def test_totals() -> None:
    suite = document()[0]
    got = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped", "time", "timestamp")}
    assert got == {
        "tests": "12",
        "failures": "4",
        "errors": "1",
        "skipped": "4",
        "time": "15.000",
        "timestamp": "2025-10-09T08:53:20",
    }


def test_hostile_text_is_text() -> None:
    (case,) = (c for c in document().iter("testcase") if c.attrib["name"] == "case-0002")
    text = case[0].text or ""
    assert "<script>window.stolen" in text
    assert "\\x00" in text
    assert "\\ud800" in text
