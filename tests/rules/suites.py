"""Suites for tests: a policy that most tests share, and one case's `expect` judged against one run."""

from __future__ import annotations

from otel_toolselect.errors import SuiteError
from otel_toolselect.judge import judge_run
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import Suite, parse_suite

POLICY = """
suite: shop
version: 3
policy:
  tools:
    search_orders: {effect: read}
    get_policy: {effect: read}
    issue_refund: {effect: write, risk: high}
    cancel_order: {effect: write}
    list_tools: {effect: metadata}
    to_human: {effect: handoff}
    mystery: {}
    book: {effect: write}
  aliases: {find_orders: search_orders}
  infra_errors: [timeout, "gateway-[0-9]+ gone"]
cases:
"""


def suite_of(expect: str, *, case: str = "") -> Suite:
    """A suite of one case `c` with this `expect` (a flow mapping) and further keys of the case."""
    return parse_suite(f"{POLICY}  - {{id: c, {case + ', ' if case else ''}expect: {expect}}}\n", path="suite.yaml")


def verdict(expect: str, run: Run, *, case: str = "") -> RunVerdict:
    suite = suite_of(expect, case=case)
    return judge_run(run, suite.cases[0], suite)


def problems_of(text: str, path: str = "suite.yaml") -> list[str]:
    """The problems of a text as `line:column: message (suggestion)`, [] when it loads."""
    try:
        parse_suite(text, path=path)
    except SuiteError as error:
        return [str(p).removeprefix(f"{path}:") for p in error.problems]
    return []


def problems_in(expect: str, *, case: str = "") -> list[str]:
    """The messages of the problems of one `expect`, without positions."""
    found = problems_of(f"{POLICY}  - {{id: c, {case + ', ' if case else ''}expect: {expect}}}\n")
    return [p.split(": ", 1)[1] for p in found]
