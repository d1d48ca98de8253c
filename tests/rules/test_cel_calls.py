"""What is left out before CEL sees it changes no answer."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run, Unknown
from otel_toolselect.rules.kinds._cel_calls import names_asked
from tests.builders import call, run
from tests.rules.suites import verdict

ASKED = [
    ("calls.exists(c, c.name == 'a')", {"a"}),
    ("!calls.exists(c, c.name == 'a' && has(c.args.q) && c.args.q.matches('x|y'))", {"a"}),
    ("size(calls.filter(c, c.name == 'a' && (c.ok || c.turn > 1))) <= 1", {"a"}),
    ("calls.exists(c, c.name == 'a') || calls.exists_one(d, d.name == \"b\" && d.ok)", {"a", "b"}),
    ("request.contains('calls')", set()),
    ("request.contains('x') && calls.exists(c, c.name == 'a') // calls", {"a"}),
]
ANY = [
    "size(calls) <= 2",
    "calls.all(c, c.name == 'a')",
    "calls.exists(c, c.ok && c.name == 'a')",
    "calls.exists(c, c.name == 'a' || c.ok)",
    "calls.exists(c, c.name == 'a' ? c.ok : true)",
    "calls.exists(c, c.name == 'a' && c.ok || c.turn == 1)",
    "calls.exists(c, c.name == request)",
    "calls.exists(c, c.name == 'a' + 'b')",
    "calls.exists(c, c.name == 'a' == c.ok)",
    "calls.exists(c, c.name == 'a\\x62')",
    "calls.exists(c, c.name != 'a')",
    "calls.map(c, c.name == 'a').all(b, b)",
    "calls.exists(c, c.name == 'a' && calls.exists(d, d.ok))",
    "calls[0].name == 'a'",
]


@pytest.mark.parametrize(("text", "names"), ASKED)
def test_an_expression_about_calls_of_some_names(text: str, names: set[str]) -> None:
    assert names_asked(text) == names


@pytest.mark.parametrize("text", ANY)
def test_an_expression_that_may_be_about_any_call(text: str) -> None:
    assert names_asked(text) is None


RUNS = (
    run(),
    run(call("a", {"q": "x"}, ok=True, value=1)),
    run(call("b", Unknown("off"), ok=False), call("a", Unknown("off"))),
    run(call("b", {"q": 2}, ok=True), call("c", {"q": "y"}), call("a", {"q": "z"}, ok=True), call("a", {"q": "x"})),
)


@pytest.mark.parametrize("given", RUNS)
@pytest.mark.parametrize("text", [text for text, names in ASKED if names])
def test_the_answer_is_that_over_all_calls(text: str, given: Run) -> None:
    whole = text.replace("calls.", "[calls][0].")
    assert names_asked(text) is not None
    assert names_asked(whole) is None
    found, wanted = (verdict(f"{{cel: ['{t.replace(chr(39), chr(39) * 2)}']}}", given) for t in (text, whole))
    assert found.layers["selection"].status == wanted.layers["selection"].status
