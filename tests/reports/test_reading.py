"""A report file read back: equal figures, equal bytes when written again, errors that name the member."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import InputError
from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import CallScore
from otel_toolselect.reports import writers
from otel_toolselect.reports._reading import parse_report, read_report
from tests.verdicts import bug_33, report_of, verdict


def written(report: Report) -> str:
    return writers()["json"].render(report, colour=False, width=0)


def full() -> Report:
    runs = [*bug_33(), verdict("x", "find", label="new", risk="high", tags={"bucket": "core"}, attempt=2)]
    runs[-1] = replace(runs[-1], call_scores=(CallScore(1, "find", True),), start_ns=1_793_613_600_123_456_789)
    fact = RunFacts("shop", "acme", 1_500_000_000, 10, 20, 0.25, ("find", "refund"), ("find",), {"find": "read"}, 2, 1)
    return report_of(*runs, facts={runs[-1].run_id: fact}, groups={"c1": CaseGroup("g", "same")}, unmatched_runs=3)


def test_a_report_survives_the_file() -> None:
    text = written(full())
    again = parse_report(text, where="r.json")
    assert written(again) == text
    assert again.facts == full().facts or list(again.facts.values()) == list(full().facts.values())
    assert again.runs[-1].start_ns == 1_793_613_600_123_456_789
    assert again.groups == {"c1": CaseGroup("g", "same")}
    assert (again.summary.judged, again.summary.infra) == (29, 2)


def test_the_fixed_form_alone_is_enough() -> None:
    """What an older writer wrote: no cells, no exclusion, nothing beyond design section 8."""
    document = json.loads(written(report_of(*bug_33())))
    fixed = list(document["runs"][0])[:10]
    document = {key: document[key] for key in ("schema", "suite", "summary", "confusion", "runs")}
    document["runs"] = [{key: run[key] for key in fixed} for run in document["runs"]]
    got = parse_report(json.dumps(document), where="r.json")
    assert got.confusion == report_of(*bug_33()).confusion
    assert got.summary.judged == 28


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "x"}, "schema: 'x' is not"),
        ({"suite": 3}, "suite: must be a text, not a number"),
        ({"runs": {}}, "runs: must be a list, not an object"),
        ({"runs": [3]}, r"runs\[0\]: must be an object"),
        ({"groups": []}, "groups: must be an object"),
        ({"unmatched_runs": "3"}, "unmatched_runs: must be a whole number"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], message: str) -> None:
    document = json.loads(written(full())) | change
    with pytest.raises(InputError, match=message):
        parse_report(json.dumps(document), where="r.json")


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("run_id", None, "run_id: must be a text"),
        ("case_id", 7, "case_id: must be a text"),
        ("attempt", "1", "attempt: must be a whole number"),
        ("excluded", "odd", "excluded: 'odd' is none of"),
        ("start", "soon", "start: 'soon' is no time"),
        ("cells", [1], r"cells\[0\]: must be an object"),
        ("cells", [{}], "expected: must be a text"),
        ("call_scores", [{}], r"call_scores\[0\]"),
        ("layers", {"selection": {"status": "good"}}, "status: 'good' is none of"),
        ("duration_s", "1", "duration_s: must be a number"),
        ("tools_offered", [1], "tools_offered: must be a list of texts"),
    ],
)
def test_mistakes_in_a_run_are_named(member: str, value: object, message: str) -> None:
    document = json.loads(written(full()))
    document["runs"][-1][member] = value
    with pytest.raises(InputError, match=rf"r\.json: runs\[30\].*{message}|{message}"):
        parse_report(json.dumps(document), where="r.json")


def test_a_run_counts_once() -> None:
    document = json.loads(written(full()))
    document["runs"].append(document["runs"][0])
    with pytest.raises(InputError, match="stands twice"):
        parse_report(json.dumps(document), where="r.json")


def test_files_that_are_no_report(tmp_path: Path) -> None:
    for content, message in ((b"{", "not JSON"), (b"\xff", "not UTF-8"), (b"[" * 100_000, "not")):
        path = tmp_path / "r.json"
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            read_report(str(path))
    with pytest.raises(InputError, match="cannot be read"):
        read_report(str(tmp_path / "absent.json"))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_any_damage_is_a_report_or_a_message(data: st.DataObject) -> None:
    """One member anywhere is replaced by anything: the reader gives a report or an InputError, never another error."""
    document = json.loads(written(full()))
    node: Any = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if not isinstance(node[key], (dict, list)) or not node[key] or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(JUNK)
    try:
        again = parse_report(json.dumps(document), where="r.json")
    except InputError as error:
        assert str(error).startswith("r.json")  # noqa: PT017
    else:
        assert written(again)
