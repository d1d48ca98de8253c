"""What judging costs: processor milliseconds per 1,000 runs, and the ratio to a bare reference of the same run.

    python benchmarks/judge.py [RUNS]

- `reference`: names in order and arguments compared in pure Python, no evidence, nothing else: the floor;
- `names, order, arguments`: the work of a tool-correctness metric, by the product's `reference` check, with evidence;
- `the same, judged`: a whole judgement of that case: all layers, schema, confusion cell, failure;
- `twenty checks`: a suite whose case has twenty checks, with evidence;
- deepeval's ToolCorrectnessMetric and agentevals' trajectory match on the same runs, where those packages can be
  imported; neither is a dependency, and without them their rows say so.

Runs have eight events: three calls with results, a text before them and an answer. Every second run fails somewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from otel_toolselect.judge import judge_run
from otel_toolselect.model.runs import AssistantText, Event, NoCall, Run, ToolCall, ToolDefinition, ToolResult
from otel_toolselect.rules import RunView, Suite, parse_suite

ROUNDS = 9
POLICY = """
suite: benchmark
policy:
  tools:
    search_orders: {effect: read}
    get_policy: {effect: read}
    issue_refund: {effect: write, risk: high}
    update_user: {effect: write}
    fax: {effect: write, retired: true}
cases:
  - id: refund
    tools: [search_orders, get_policy, issue_refund, update_user]
    expect:
"""
SMALL = (
    POLICY
    + """
      reference:
        mode: exact
        calls:
          - {tool: search_orders, args: {customer_id: C-42}}
          - {tool: get_policy, args: {topic: refunds}}
          - {tool: issue_refund, args: {order_id: A-1001, amount: 79.9}}
"""
)
LARGE = (
    POLICY
    + """
      class: multi_step
      first: [search_orders]
      never: [update_user, "effect:write before search_orders ok"]
      eventually: [issue_refund]
      order: [{first: search_orders, then: issue_refund, needs: ok}]
      args:
        search_orders: {customer_id: C-42, status: {any: true, optional: true}}
        issue_refund: {order_id: {from_result: search_orders, path: "$.orders[*].id"}, amount: {range: [1, 90]}}
      grounded: [search_orders.customer_id]
      only_if: [{when: {tool: search_orders, path: $.orders, equals: []}, never: [issue_refund]}]
      answer: {contains: [refund], not_contains: [guarantee], cites_results: true}
      clarify: {about: [order]}
      recovery: {max_same_failure: 1}
      budget: {calls: 6, redundant: 0, tokens: 20000, seconds: 60}
      turns: [{at: 2, first: [get_policy]}]
      stale: [issue_refund.order_id]
"""
)
_SCHEMA = {
    "type": "object",
    "properties": {n: {"type": "string"} for n in ("customer_id", "topic", "order_id")}
    | {"amount": {"type": "number"}},
}
TOOLS = tuple(ToolDefinition(n, n, _SCHEMA) for n in ("search_orders", "get_policy", "issue_refund", "update_user"))


def made(number: int) -> Run:
    """A run of eight events; odd ones refund the wrong order."""
    order = "A-1001" if number % 2 == 0 else "A-9999"
    steps: list[tuple[str, dict[str, Any], Any]] = [
        ("search_orders", {"customer_id": "C-42"}, {"orders": [{"id": "A-1001", "total": 79.9}]}),
        ("get_policy", {"topic": "refunds"}, {"text": "Within 30 days."}),
        ("issue_refund", {"order_id": order, "amount": 79.9}, {"refund_id": "R-17"}),
    ]
    events: list[Event] = [AssistantText(1, 0, "Let me look.", "genai")]
    for turn, (name, args, value) in enumerate(steps, start=1):
        seq = len(events)
        events.append(ToolCall(turn, seq, name, args, f"c{seq}", True, True, "genai"))
        events.append(ToolResult(turn, seq + 1, seq, name, f"c{seq}", True, value, "genai"))
    final = "Your refund of 79.90 EUR for A-1001 is on its way. Anything else about the order?"
    events.append(AssistantText(4, len(events), final, "genai"))
    return Run(
        run_id=f"r{number}", trace_id=f"t{number}", trace_ids=(f"t{number}",), events=tuple(events), tools=TOOLS,
        request="I am C-42, I want my money back for the headphones", final_text=final, start_ns=1_793_361_600 * 10**9,
        no_call=NoCall("ask_followup", "ends in a question", 0.9), duration_ns=2 * 10**9, input_tokens=900,
        output_tokens=100,
    )  # fmt: skip


EXPECTED = [
    ("search_orders", {"customer_id": "C-42"}),
    ("get_policy", {"topic": "refunds"}),
    ("issue_refund", {"order_id": "A-1001", "amount": 79.9}),
]


def reference(runs: Sequence[Run]) -> int:
    """Names, order and arguments of each run, compared and counted."""
    right = 0
    for run in runs:
        calls = [e for e in run.events if isinstance(e, ToolCall)]
        names = [c.name for c in calls] == [name for name, _ in EXPECTED]
        right += names and all(c.args == args for c, (_, args) in zip(calls, EXPECTED, strict=False))
    return right


def product(suite: Suite) -> Callable[[Sequence[Run]], object]:
    case = suite.cases[0]

    def stream(runs: Sequence[Run]) -> None:
        for run in runs:
            judge_run(run, case, suite)

    return stream


def check_alone(suite: Suite) -> Callable[[Sequence[Run]], object]:
    (check,) = [c for c in suite.cases[0].expect.checks if c.name == "reference"]
    return lambda runs: [check.evaluate(RunView(run, suite.policy)) for run in runs]


def deepeval_metric() -> Callable[[Sequence[Run]], object]:
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, ToolCallParams
    from deepeval.test_case import ToolCall as Call

    class NoModel(DeepEvalBaseLLM):  # type: ignore[misc, no-any-unimported]
        """The metric wants a model and, without a list of available tools, never calls it."""

        def load_model(self) -> None:
            return None

        def get_model_name(self) -> str:
            return "none"

        def generate(self, *args: Any, **kwargs: Any) -> str:
            raise AssertionError("the model was called")

        async def a_generate(self, *args: Any, **kwargs: Any) -> str:
            raise AssertionError("the model was called")

    metric = ToolCorrectnessMetric(
        model=NoModel(),
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        should_consider_ordering=True,
        async_mode=False,
    )
    wanted = [Call(name=n, input_parameters=a) for n, a in EXPECTED]

    def one(run: Run) -> Any:
        called = [Call(name=c.name, input_parameters=c.known_args) for c in run.calls]
        case = LLMTestCase(input="q", actual_output="a", tools_called=called, expected_tools=wanted)
        return metric.measure(case, _show_indicator=False)

    return lambda runs: [one(run) for run in runs]


def agentevals_match() -> Callable[[Sequence[Run]], object]:
    import json

    from agentevals.trajectory.match import create_trajectory_match_evaluator

    evaluator = create_trajectory_match_evaluator(trajectory_match_mode="strict")

    def messages(calls: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
        return [
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": n, "arguments": json.dumps(a)}}]}
            for n, a in calls
        ]

    wanted = messages(EXPECTED)
    return lambda runs: [
        evaluator(outputs=messages([(c.name, c.known_args) for c in run.calls]), reference_outputs=wanted)
        for run in runs
    ]


def cost(work: Callable[[Sequence[Run]], object], runs: Sequence[Run]) -> float:
    """Processor milliseconds per 1,000 runs: the best round, which other work on the machine disturbed least."""
    work(runs[:10])
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work(runs)
        times.append((time.process_time() - started) * 1e6 / len(runs))
    return min(times)


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    runs = [made(i) for i in range(number)]
    small, large = (parse_suite(text, path="benchmark.yaml") for text in (SMALL, LARGE))
    floor = cost(reference, runs)
    rows = [("reference", floor), ("names, order, arguments", cost(check_alone(small), runs))]
    rows.append(("the same, judged", cost(product(small), runs)))
    rows.append((f"{len(large.cases[0].expect.checks)} checks, with evidence", cost(product(large), runs)))
    absent = []
    for package, make in (("deepeval", deepeval_metric), ("agentevals", agentevals_match)):
        if find_spec(package) is None:
            absent.append(package)
        else:
            rows.append((package, cost(make(), runs[:200])))
    print(f"processor milliseconds per 1,000 runs of 8 events ({number:,} runs, best of {ROUNDS} rounds)")
    for name, ms in rows:
        print(f"{name:<28}{ms:>9.1f}   {ms / floor:>7.1f} x reference")
    for package in absent:
        print(f"{package:<28}not installed: not compared")


if __name__ == "__main__":
    main()
