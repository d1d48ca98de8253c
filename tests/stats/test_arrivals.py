"""Doctor's figures: what counts, and over what."""

from __future__ import annotations

from otel_toolselect.model.runs import Run, ToolCall, ToolDefinition, ToolResult, Unknown
from otel_toolselect.model.spans import Span
from otel_toolselect.stats import coverage, scopes


def span(number: int, scope: str = "lib", **more: object) -> Span:
    facts: dict[str, object] = {"trace_id": "t", "span_id": f"{number:x}", "resource": {"service.name": "shop"}}
    return Span(**(facts | {"scope_name": scope} | more))  # type: ignore[arg-type]


def test_scopes_count_a_repeated_span_once() -> None:
    got = scopes([span(1), span(1), span(2), span(3, "http", trace_id="u")], lambda s: s.scope_name[:1])
    assert [(s.service, s.scope, s.spans, s.traces, s.dialects) for s in got] == [
        ("shop", "http", 1, 1, {"h": 1}),
        ("shop", "lib", 2, 1, {"l": 2}),
    ]


def call(seq: int, args: object, call_id: str | None) -> ToolCall:
    return ToolCall(1, seq, "find", args, call_id, True, True, "d")  # type: ignore[arg-type]


def test_coverage_over_runs_and_calls() -> None:
    events = (
        call(0, {}, "c0"),
        ToolResult(1, 1, 0, "find", "c0", True, None, "d"),
        call(2, Unknown("not recorded"), None),
        ToolResult(1, 3, 2, "find", None, False, Unknown("not recorded"), "d"),
        call(4, {"q": 1}, "c2"),
    )
    full = Run(
        "r1", "t", ("t",), events, request="hi", tools=(ToolDefinition("find"),), dialects=("d",), service="shop"
    )
    bare = Run("r2", "u", ("u",), (), dialects=("d",), incomplete="no end", service="shop")
    (row,) = coverage([full, bare])
    assert (row.service, row.dialect, row.runs, row.calls) == ("shop", "d", 2, 3)
    assert dict(row.have) == {"request": 1, "catalog": 1, "arguments": 2, "ids": 2, "results": 1}
    assert row.total("request") == 2
    assert row.total("results") == 3
    assert row.missing() == ["request", "catalog", "arguments", "ids", "results"]
    assert dict(row.incomplete) == {"no end": 1}
    assert coverage([bare, full]) == [row]


def test_nothing_is_missing_where_nothing_is_called() -> None:
    run = Run("r", "t", ("t",), (), request="hi", tools=(), dialects=("d",))
    (row,) = coverage([run])
    assert row.missing() == []


def test_clocks_that_go_wrong_are_counted() -> None:
    times = [(5, 9), (9, 5), (5, 0), (0, 9), (9, 4)]
    spans = [Span("a" * 32, f"{n:016x}", start_ns=start, end_ns=end) for n, (start, end) in enumerate(times, start=1)]
    (row,) = scopes(spans, lambda span: "none")
    assert row.clock == {"end before start": 2, "no end": 1, "no start": 1}
