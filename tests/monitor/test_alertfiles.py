"""Alert files: what they mean, and every mistake with its place and a way out (issue F)."""

from __future__ import annotations

import pytest

from otel_toolselect.errors import SuiteError
from otel_toolselect.model.alerting import UNIT_NS, Alert, Change, Drift, Limit, Scope, Span, WindowSpec
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.rules.alertfiles import MIN_COUNT, parse_alerts

M = UNIT_NS["m"]
FULL = """
alerts: support
version: 3
defaults:
  window: {size: 5m, zone: Europe/Berlin, lateness: 2m}
  min_count: 30
  no_data_after: 30m
  owner: agents-team
  labels: {team: payments}
  annotations: {summary: "{value} ({team})"}
list:
  - id: wrong-tool
    signal: wrong_tool
    of: {policy: shop-safety, model: [gpt-9, gpt-9-mini]}
    by: [agent]
    window: {slide: 1m}
    condition: {above: 0.1}
    for: 10m
    keep_firing: 15m
    severity: critical
    runbook: https://example.org/wrong
    labels: {page: night}
    annotations: {detail: "{agent}: {says}"}
  - id: confused
    signal: confusion_count
    of: {pair: {expected: issue_refund, observed: get_invoice}}
    condition: {above: 3}
  - {id: ghosts, signal: ghost_calls}
  - id: worse-than-release
    signal: recall
    by: [tool]
    condition: {against: release, drop: 0.05}
    min_count: 50
  - {id: slower, signal: latency_p95, condition: {against: previous, rise: 0.5, period: 1w}}
  - {id: drift, signal: drift_tools, window: 1d, condition: {against: baseline, effect: 0.1, significance: 0.001}}
"""


def one(entry: str) -> Alert:
    return parse_alerts(f"alerts: a\nlist:\n  - {entry}\n", path="a.yaml").alerts[0]


def problems_of(text: str) -> list[str]:
    try:
        parse_alerts(text, path="a.yaml")
    except SuiteError as error:
        return [str(p).removeprefix("a.yaml:") for p in error.problems]
    return []


def problems_in(entry: str) -> list[str]:
    """Messages without positions, of one alert written as a flow mapping."""
    return [p.split(": ", 1)[1] for p in problems_of(f"alerts: a\nlist:\n  - {{{entry}}}\n")]


def test_what_a_file_means() -> None:
    file = parse_alerts(FULL, path="a.yaml")
    wrong, confused, ghosts, worse, slower, drift = file.alerts
    assert (file.name, file.version) == ("support", "3")
    five = WindowSpec(Span(5, "m"), Span(5, "m"), "Europe/Berlin", 2 * M)
    assert wrong == Alert(
        id="wrong-tool",
        signal="wrong_tool",
        window=WindowSpec(Span(5, "m"), Span(1, "m"), "Europe/Berlin", 2 * M),
        condition=Limit("above", 0.1),
        of=Scope(policy=("shop-safety",), model=("gpt-9", "gpt-9-mini")),
        by=("agent",),
        min_count=30,
        no_data_after_ns=30 * M,
        for_ns=10 * M,
        keep_firing_ns=15 * M,
        severity="critical",
        owner="agents-team",
        runbook="https://example.org/wrong",
        labels={"team": "payments", "page": "night"},
        annotations={"summary": "{value} ({team})", "detail": "{agent}: {says}"},
        line=12,
    )
    assert (confused.of.pair, confused.window) == (("issue_refund", "get_invoice"), five)
    # defaults that a count has no use for do not reach it
    assert (confused.min_count, confused.no_data_after_ns) == (0, None)
    assert ghosts.condition == Limit("above", 0)
    assert (worse.condition, worse.min_count) == (Change("release", "drop", 0.05, 0.01), 50)
    assert slower.condition == Change("previous", "rise", 0.5, None, Span(1, "w"))
    assert (drift.condition, drift.window.size) == (Drift("baseline", 0.1, 0.001), Span(1, "d"))


def test_what_holds_without_being_written() -> None:
    alert = one("{id: a, signal: accuracy, window: 1h, condition: {below: 0.9}}")
    assert (alert.min_count, alert.severity, alert.window.slide) == (MIN_COUNT, "warning", Span(1, "h"))
    assert (alert.for_ns, alert.keep_firing_ns, alert.no_data_after_ns, alert.window.zone) == (0, 0, None, "UTC")


def test_all_mistakes_at_once_each_with_its_place() -> None:
    text = """alerts: a
defaults: {window: {size: 5x}, severity: urgent}
list:
  - id: one
    signal: acuracy
    condition: {below: 0.9}
    of: {agnet: x}
    for: 10
  - id: two
    signal: accuracy
    treshold: 3
    condition: {below: 90}
    labels: {alert: x}
  - id: two
    signal: no_data
    window: 5m
"""
    assert problems_of(text) == [
        "2:27: size cannot be '5x' (write 90s, 5m, 1h, 1d or 1w)",
        "2:42: severity cannot be 'urgent' (known: critical, info, warning)",
        "5:13: signal cannot be 'acuracy' (did you mean 'accuracy'?)",
        "7:10: unknown key 'agnet' in of (did you mean 'agent'?)",
        "8:10: for cannot be '10' (write 90s, 5m, 1h, 1d or 1w)",
        "11:5: unknown key 'treshold' in an alert",
        "12:24: accuracy is a share, and 90 is none (write 0.9 for 90 %)",
        "13:14: the label 'alert' is set by the alert itself (give it another name)",
    ]


BASIC = "id: a, window: 5m"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("signal: accuracy, window: 5m, condition: {below: 0.9}", "an alert has no id (write id: NAME)"),
        (f"{BASIC}", "an alert has no signal (write signal: accuracy, or another of docs/alerts.md)"),
        (
            "id: a, signal: no_data",
            "the window has no size (write window: 5m, or window: {size: 5m})",
        ),
        (
            "id: a, signal: no_data, window: {size: 1d, slide: 1h}",
            "a window of 1d cannot slide by 1h: days and weeks slide by days or weeks, hours and less by hours or less "
            "(write slide: 1d, or size: 24h)",
        ),
        (
            "id: a, signal: no_data, window: {size: 5m, slide: 1h}",
            "a window of 5m cannot slide by 1h: a slide longer than the window would leave out what lies between two "
            "windows (write slide: 1m)",
        ),
        (
            "id: a, signal: no_data, window: {size: 1d, zone: Europe/Berln}",
            "no time zone is called 'Europe/Berln' (did you mean 'Europe/Berlin'?)",
        ),
        (
            f"{BASIC}, signal: accuracy",
            "the alert has no condition, and accuracy implies none (write condition: {below: 0.9})",
        ),
        (f"{BASIC}, signal: accuracy, condition: {{}}", "the condition names no limit (write {below: 0.9})"),
        (
            f"{BASIC}, signal: wrong_tool, condition: {{above: 0.1, below: 0.2}}",
            "the condition holds above and below (write {above: 0.1})",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{above: 0.9}}",
            "accuracy above 0.9 is no fault: it hurts below a limit (write below: 0.9)",
        ),
        (
            f"{BASIC}, signal: wrong_tool, condition: {{above: 1}}",
            "no share is above 1: the alert could never fire (write {above: 0.1})",
        ),
        (f"{BASIC}, signal: decisions, condition: {{below: 0}}", "decisions is never below 0 (it is 0 or more)"),
        (f"{BASIC}, signal: tokens, condition: {{above: -1}}", "tokens is always above -1 (it is 0 or more)"),
        (
            f"{BASIC}, signal: accuracy, condition: {{below: 0.9, significance: 0.1}}",
            "'significance' belongs to a comparison (write against: baseline beside it, or take it out)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: baseline}}",
            "a comparison needs the least change that matters (write drop: 0.05)",
        ),
        (
            f"{BASIC}, signal: clarification_rate, condition: {{against: baseline, drop: 0.1, rise: 0.1}}",
            "it cannot both drop and rise (write rise: 0.05)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: baseline, rise: 0.1}}",
            "a rise of accuracy is no fault (write drop: 0.1)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: yesterday, drop: 0.1}}",
            "against cannot be 'yesterday' (known: baseline, previous, release)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: baseline, drop: 5}}",
            "drop cannot be 5 (write 0.05 for 5 %)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: baseline, drop: 0.1, significance: 0.5}}",
            "significance cannot be 0.5 (write 0.01: the chance of a false alarm in a window)",
        ),
        (
            f"{BASIC}, signal: latency_p95, condition: {{against: previous, rise: 0.5, significance: 0.05}}",
            "no test is made of a quantile such as latency_p95 (take significance out; min_count guards it)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: baseline, drop: 0.1, period: 1w}}",
            "'period' says how far back the previous window lies (write against: previous, or take it out)",
        ),
        (
            "id: a, window: 1d, signal: accuracy, condition: {against: previous, drop: 0.1, period: 1h}",
            "a period of 1h is shorter than the window, which would be compared with itself in part "
            "(write period: 1d, or more)",
        ),
        (
            f"{BASIC}, signal: drift_tools, condition: {{above: 0.1}}",
            "drift_tools is a test against something (write {against: baseline, effect: 0.1})",
        ),
        (
            f"{BASIC}, signal: drift_tools, condition: {{against: baseline, effect: 0.1, drop: 0.1}}",
            "'drop' says nothing of drift_tools (write effect: 0.1)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{against: baseline, drop: 0.1, effect: 0.1}}",
            "'effect' says nothing of accuracy (write drop or rise)",
        ),
        (
            f"{BASIC}, signal: confusion_count, condition: {{above: 3}}",
            "confusion_count is about a pair (write of: {pair: {expected: TOOL, observed: TOOL}})",
        ),
        (
            f"{BASIC}, signal: recall, condition: {{below: 0.9}}",
            "recall is about a tool (write of: {tool: NAME}, or by: [tool] for each of them)",
        ),
        (
            f"{BASIC}, signal: no_data, of: {{pair: {{expected: a, observed: b}}}}",
            "a pair says nothing of no_data (take it out, or write signal: confusion_share)",
        ),
        (
            f"{BASIC}, signal: confusion_count, condition: {{above: 3}}, of: {{pair: {{expected: a, observed: a}}}}",
            "'a' taken for itself is no confusion (name two labels)",
        ),
        (
            f"{BASIC}, signal: accuracy, condition: {{below: 0.9}}, of: {{tool: search}}",
            "accuracy is no figure of a tool (per tool there are argument_accuracy, recall, precision, redundancy)",
        ),
        (
            f"{BASIC}, signal: latency_p95, condition: {{above: 9}}, by: [tool]",
            "latency_p95 is a figure of whole runs, not of a tool (split it by agent or model)",
        ),
        (
            f"{BASIC}, signal: no_data, by: [agent, agent]",
            "'agent' stands twice in by (once is enough)",
        ),
        (
            f"{BASIC}, signal: no_data, of: {{suite: a, policy: b}}",
            "a figure is of a suite or of a policy, not of both (keep one of them, or write two alerts)",
        ),
        (
            f"{BASIC}, signal: no_data, of: {{agent: []}}",
            "agent is an empty list: nothing would be watched (take agent out, or name one)",
        ),
        (
            f"{BASIC}, signal: ghost_calls, min_count: 3",
            "ghost_calls is a count, which is 0 when there is nothing: min_count has no use "
            "(take it out; to hear of silence write signal: no_data)",
        ),
        (
            f"{BASIC}, signal: ghost_calls, no_data_after: 5m",
            "ghost_calls is a count, which is 0 when there is nothing: no_data_after has no use "
            "(take it out; to hear of silence write signal: no_data)",
        ),
        (
            f"{BASIC}, signal: wrong_tool, condition: {{above: 0.1}}, no_data_after: 0m",
            "no_data_after cannot be 0 (write 15m)",
        ),
        (f"{BASIC}, signal: no_data, for: 10", "for cannot be '10' (write 90s, 5m, 1h, 1d or 1w)"),
        (
            f"{BASIC}, signal: no_data, labels: {{a-b: x}}",
            "a label cannot be called 'a-b' (write letters, digits and _)",
        ),
        (
            f"{BASIC}, signal: no_data, annotations: {{s: '{{agent}}'}}",
            "no 'agent' can be put into an annotation (write by: [agent])",
        ),
        (
            f"{BASIC}, signal: no_data, annotations: {{s: '{{value.__class__}}'}}",
            "the annotation 's' cannot be read at {value.__class__} (write {NAME}; a brace is written twice: {{)",
        ),
        (
            f"{BASIC}, signal: no_data, annotations: {{s: '{{value:>9}}'}}",
            "the annotation 's' cannot be read at {value:>9} (write {NAME}; a brace is written twice: {{)",
        ),
        (f"{BASIC}, signal: no_data, metric: x", "unknown key 'metric' in an alert (did you mean 'signal'?)"),
    ],
)
def test_mistakes(entry: str, said: str) -> None:
    assert problems_in(entry) == [said]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: the file is empty (write alerts: NAME and list: [...])"),
        (
            "alerts: a\nlist: []",
            "2:7: the file has no alert (write list: [{id: ..., signal: ..., window: 5m, condition: {...}}])",
        ),
        ("list: [{id: a, signal: no_data, window: 5m}]", "1:1: the alerts have no name (write alerts: NAME)"),
        ("[]", "1:1: the alerts must be a mapping, not a list"),
        (
            "alerts: a\nlist:\n  - {id: a, signal: no_data, window: 5m}\n  - {id: a, signal: no_data, window: 5m}",
            "4:10: the alert id 'a' stands twice (first on line 3; ids are unique)",
        ),
    ],
)
def test_mistakes_of_a_file(text: str, said: str) -> None:
    assert problems_of(text) == [said]


def test_every_signal_can_be_alerted_on() -> None:
    """The example that an error message would give is itself a good condition."""
    for signal in SIGNALS.values():
        of = "of: {pair: {expected: a, observed: b}}, " if "pair" in signal.needs else ""
        of = "of: {tool: t}, " if "tool" in signal.needs else of
        found = problems_in(f"{BASIC}, {of}signal: {signal.name}")
        if signal.limit is None:
            assert len(found) == 1, signal.name
            example = found[0].split("(write condition: ")[1].removesuffix(")")
            assert problems_in(f"{BASIC}, {of}signal: {signal.name}, condition: {example}") == []
        else:
            assert found == []
