"""What a tool must answer, in the words of suites: `{ok, result, error, within}` (R55).

    expect: {result: {object: {count: {range: [1, 100]}}, open: true}, within: 2s}

`ok` is true unless `error` is given; `result` is a value or matcher for what the tool returned; `error` is a value or
matcher for the text of its error, a plain text being one that must occur in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.runs import Run, ToolCall
from otel_toolselect.model.values import JSON
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.durations import parse_length
from otel_toolselect.rules.matching import Matcher, Scope, parse_value
from otel_toolselect.rules.policy import Policy
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.view import RunView

_KEYS = ("ok", "result", "error", "within")


@dataclass(frozen=True, slots=True)
class Contract:
    """`within_ns` None: any time. Matchers that speak of earlier results find none: there is this call alone."""

    ok: bool = True
    result: Matcher | None = None
    error: Matcher | str | None = None
    within_ns: int | None = None

    def result_mismatch(self, tool: str, args: dict[str, Any], value: JSON, policy: Policy) -> str | None:
        """None when the result fits, else why not."""
        if self.result is None:
            return None
        return self.result.mismatch(value, _alone(tool, args, policy))

    def error_mismatch(self, tool: str, args: dict[str, Any], text: str, policy: Policy) -> str | None:
        if self.error is None:
            return None
        if isinstance(self.error, str):
            return None if self.error in text else f"expected an error with {self.error!r}, got {text[:200]!r}"
        return self.error.mismatch(text, _alone(tool, args, policy))


def parse_contract(node: Node | None, policy: Policy, problems: Problems) -> Contract:
    """Without a node: the tool answers, without an error."""
    found = (problems.fields(node, "expect", _KEYS) if node is not None else None) or {}
    draft = Draft(problems, policy)
    ok = problems.boolean(found["ok"][1], "ok") if "ok" in found else "error" not in found
    if ok and "error" in found:
        problems.add(found["error"][0], "a call that is ok has no error", "write ok: false, or leave ok out")
    if not ok and "result" in found:
        problems.add(found["result"][0], "a call that fails has no result", "look at its text with error")
    return Contract(
        ok=bool(ok),
        result=parse_value(found["result"][1], draft) if "result" in found else None,
        error=_error(found["error"][1], draft) if "error" in found else None,
        within_ns=parse_length(found["within"][1], "within", problems) if "within" in found else None,
    )


def _error(node: Node, draft: Draft) -> Matcher | str | None:
    return draft.problems.text(node, "error") if isinstance(node, Scalar) else parse_value(node, draft)


def _alone(tool: str, args: dict[str, Any], policy: Policy) -> Scope:
    call = ToolCall(turn=1, seq=1, name=tool, args=args, call_id=None, emitted=True, executed=True, dialect="preflight")
    view = RunView(Run(run_id="preflight", trace_id="", trace_ids=(), events=(call,)), policy)
    return Scope(view.calls[0], view)
