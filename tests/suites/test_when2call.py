"""`when2call`: the four classes."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.errors import InputError
from tests.builders import call, run
from tests.suites.conftest import Import, judged, lines

RUNS = {
    "tool_call": run(call("play", {"track": "x"})),
    "request_for_info": run(final="Which room do you mean?"),
    "cannot_answer": run(final="I cannot do that.", reads="refuse_no_tool"),
    "direct": run(final="It is by Queen."),
}


@pytest.mark.parametrize("expected", RUNS)
def test_each_class_accepts_its_own_answer_only(imported: Import, expected: str) -> None:
    record = {"id": "c", "prompt": "p", "tools_offered": ["play", "stop"], "expected_class": expected}
    suite = imported("when2call", lines({**record, "acceptable_tools": ["play"] if expected == "tool_call" else []}))
    passed = [name for name, r in RUNS.items() if judged(suite, r).layers["selection"].status == "pass"]
    assert passed == [expected]


def test_the_sets_own_form(imported: Import) -> None:
    record: dict[str, Any] = {
        "uuid": "u-1",
        "question": "Play it",
        "correct_answer": "tool_call",
        "tools": ['{"name": "play", "parameters": {}}'],
        "target_tool": {"name": "play"},
    }
    suite = imported("when2call", lines(record))
    case = suite.cases[0]
    assert (case.id, case.prompt, case.tools) == ("u-1", "Play it", ("play",))
    assert judged(suite, RUNS["tool_call"]).layers["selection"].status == "pass"


def test_an_unknown_class_is_named(imported: Import) -> None:
    with pytest.raises(InputError, match="expected_class is 'maybe', not one of tool_call"):
        imported("when2call", lines({"id": "c", "expected_class": "maybe"}))
