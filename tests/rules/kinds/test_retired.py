"""Tools that are gone: the case stays and expects a refusal (R9)."""

from __future__ import annotations

import pytest

from otel_toolselect.judge import judge_run
from otel_toolselect.rules import parse_suite
from tests.builders import call, run
from tests.rules.suites import problems_of

SUITE = """
suite: s
policy: {{tools: {{fax: {{effect: write, retired: true}}, mail: {{effect: write}}}}}}
cases: [{{id: c, expect: {expect}}}]
"""


def test_a_call_of_a_retired_tool_is_a_finding_of_its_own() -> None:
    suite = parse_suite(SUITE.format(expect="{class: refuse}"), path="s.yaml")
    found = judge_run(run(call("fax")), suite.cases[0], suite)
    (finding,) = [f for f in found.findings if f.check == "retired"]
    assert (finding.status, finding.explanation) == ("fail", "called fax, which is retired")
    assert found.layers["selection"].status == "fail"
    declined = judge_run(run(final="I cannot fax.", reads="refuse_no_tool"), suite.cases[0], suite)
    assert declined.layers["selection"].status == "pass"
    assert not [f for f in declined.findings if f.check == "retired"]


@pytest.mark.parametrize("expect", ["{first: [fax]}", "{eventually: [fax, mail]}", "{args: {fax: {n: 1}}}"])
def test_a_retired_tool_cannot_be_wanted(expect: str) -> None:
    assert any("which is retired" in p for p in problems_of(SUITE.format(expect=expect)))


def test_it_must_be_true_or_false() -> None:
    text = SUITE.format(expect="{first: [mail]}").replace("retired: true", "retired: maybe")
    assert any("retired must be true or false" in p for p in problems_of(text))
