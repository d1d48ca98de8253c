"""deploy/collector: complete configurations; tail sampling keeps whatever our dialects would read as a failure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect import config
from otel_toolselect.dialects._outcome import _STATUS_KEYS
from otel_toolselect.model.runs import ToolResult
from otel_toolselect.model.spans import STATUS_ERROR, Span
from otel_toolselect.model.values import canonical
from tests.deploy._files import DEPLOY, GRPC_PORT, HTTP_PORT, document
from tests.dialects import captures

FILES = [*sorted((DEPLOY / "collector").glob("*.yaml")), DEPLOY / "compose" / "collector.yaml"]
KINDS = ("receivers", "processors", "exporters", "extensions")
TYPES = {
    "otlp", "memory_limiter", "filter", "tail_sampling", "otlp_grpc", "clickhouse", "loadbalancing", "file_storage",
    "health_check",
}  # fmt: skip
"""Components of the contrib distribution that are used here."""

SAMPLING = document(DEPLOY / "collector" / "tail-sampling.yaml")["processors"]["tail_sampling"]
POLICIES: dict[str, dict[str, Any]] = {policy["name"]: policy for policy in SAMPLING["policies"]}

paths = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")


def otlp_exporters(written: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name, exporter in written["exporters"].items():
        if name == "loadbalancing":
            yield exporter["protocol"]["otlp"]
        elif name.startswith("otlp_grpc"):
            yield exporter


@paths
def test_what_pipelines_use_is_what_is_defined(path: Path) -> None:
    written = document(path)
    assert set(written) <= {*KINDS, "service"}
    used: dict[str, set[str]] = {kind: set() for kind in KINDS}
    used["extensions"] = set(written["service"].get("extensions", ()))
    for pipeline in written["service"]["pipelines"].values():
        assert set(pipeline) == {"receivers", "processors", "exporters"}
        assert pipeline["processors"][0] == "memory_limiter"
        for kind, names in pipeline.items():
            used[kind] |= set(names)
    for kind in KINDS:
        defined = written.get(kind, {})
        assert used[kind] == set(defined), kind
        assert {name.partition("/")[0] for name in defined} <= TYPES
    assert set(written["service"]["pipelines"]) == {"traces", "logs"}


@paths
def test_it_listens_where_a_receiver_would(path: Path) -> None:
    protocols = document(path)["receivers"]["otlp"]["protocols"]
    assert protocols["grpc"]["endpoint"].endswith(f":{GRPC_PORT}")
    assert protocols["http"]["endpoint"].endswith(f":{HTTP_PORT}")


@paths
def test_nothing_is_given_up_and_requests_fit_our_limits(path: Path) -> None:
    written = document(path)
    exporters = [e.get("protocol", {}).get("otlp", e) for e in written["exporters"].values()]
    for exporter in exporters:
        assert exporter["retry_on_failure"] == {"enabled": True, "max_elapsed_time": "0s"}
        queue = exporter["sending_queue"]
        assert queue["enabled"]
        assert queue.get("storage", "file_storage") in {*written.get("extensions", ()), "file_storage"}
        assert ("storage" in queue) <= ("file_storage" in written.get("extensions", ()))
    for exporter in otlp_exporters(written):
        assert exporter["compression"] == "gzip"  # gRPC servers know no other for sure
        largest = exporter["sending_queue"].get("batch", {}).get("max_size", 0)
        assert largest <= config.Limits().spans


@paths
def test_variables_are_explained_and_no_secret_is_written(path: Path) -> None:
    text = path.read_text("utf-8")
    told = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    if path.parent.name == "compose":
        told = (path.parent / "compose.yaml").read_text("utf-8")
    for name in re.findall(r"\$\{env:(\w+)\}", text):
        assert name in told
    assert not re.search(r"(password|authorization): (?!\$\{env:|Bearer \$\{env:)", text)


def test_what_it_sends_us_never_is_our_own() -> None:
    for path in FILES:
        written = document(path)
        if any(name.endswith("/toolselect") for name in written["exporters"]):
            assert "filter/own" in written["service"]["pipelines"]["traces"]["processors"], path


def test_the_exporter_writes_tables_that_we_read_in_a_database_that_is_not_ours() -> None:
    exporter = document(DEPLOY / "collector" / "clickhouse.yaml")["exporters"]["clickhouse"]
    assert (exporter["traces_table_name"], exporter["logs_table_name"]) == ("otel_traces", "otel_logs")
    assert exporter["database"] not in ("toolselect", "default")


# --- tail sampling: its conditions, carried out on spans that real libraries made

_TEXT = r'"((?:[^"\\]|\\.)*)"'
_FORMS: list[tuple[str, Callable[..., Callable[[Mapping[str, Any], str, Mapping[str, Any]], bool]]]] = [
    (rf"attributes\[{_TEXT}\] != nil", lambda key: lambda own, name, resource: own.get(key) is not None),
    (rf"resource\.attributes\[{_TEXT}\] != nil", lambda key: lambda own, name, resource: resource.get(key) is not None),
    (rf"name == {_TEXT}", lambda wanted: lambda own, name, resource: name == wanted),
    (
        rf"IsMatch\(attributes\[{_TEXT}\], {_TEXT}\)",
        lambda key, shape: lambda own, name, resource: key in own and bool(re.search(shape, _shown(own[key]))),
    ),
    (
        rf"IsMatch\(attributes, {_TEXT}\)",
        lambda shape: lambda own, name, resource: bool(re.search(shape, _shown(dict(own)))),
    ),
]


def _shown(value: Any) -> str:
    """A value as the Collector's language makes a text of it: lists and maps as JSON."""
    return value if isinstance(value, str) else canonical(value)


def holds(condition: str, own: Mapping[str, Any], name: str, resource: Mapping[str, Any]) -> bool:
    found = False
    for part in condition.split(" or "):
        for form, make in _FORMS:
            matched = re.fullmatch(form, part)
            if matched is not None:
                assert "\\" not in part, "escapes are read twice: do without them"
                found |= make(*matched.groups())(own, name, resource)
                break
        else:
            raise AssertionError(f"a condition of a form that this test does not know: {part}")
    return found


def sampled(policy: Mapping[str, Any], span: Span) -> bool:
    said = policy[policy["type"]]
    if policy["type"] == "status_code":
        return span.status_code == STATUS_ERROR
    if policy["type"] == "string_attribute":
        return span.attributes.get(said["key"]) in said["values"]
    if policy["type"] == "probabilistic":
        return False  # by chance
    assert policy["type"] == "ottl_condition"
    assert said["error_mode"] == "ignore"
    return any(holds(c, span.attributes, span.name, span.resource) for c in said["span"]) or any(
        holds(c, event.attributes, event.name, span.resource)
        for event in span.events
        for c in said.get("spanevent", ())
    )


def kept(spans: tuple[Span, ...]) -> set[str]:
    """Ids of the traces that are kept without a throw of dice, and without the list of risky tools."""
    policies = [policy for name, policy in POLICIES.items() if name not in ("rest", "risky-tools", "cases")]
    return {span.trace_id for span in spans if any(sampled(policy, span) for policy in policies)}


def test_every_run_with_a_failed_tool_is_kept() -> None:
    failed = told = 0
    for scenario in captures.ALL:
        spans, logs = captures.signals(scenario)
        safe = kept(spans)
        for run in captures.runs(scenario):
            if any(isinstance(event, ToolResult) and event.ok is False for event in run.events):
                failed += 1
                # a failure that is told in log records only is not in the spans that are sampled
                if any(log.trace_id in run.trace_ids for log in logs):
                    continue
                told += 1
                assert safe & set(run.trace_ids), f"{scenario}: {run.run_id}"
    assert failed > 20
    assert told > 20


def test_quiet_runs_are_left_to_chance() -> None:
    """Otherwise the rule above would hold for a configuration that keeps all."""
    quiet = whole = 0
    for scenario in captures.ALL:
        spans, _ = captures.signals(scenario)
        whole += len({span.trace_id for span in spans})
        quiet += len({span.trace_id for span in spans} - kept(spans))
    assert quiet > whole / 3


def test_no_case_and_no_sign_of_a_failed_tool_is_forgotten() -> None:
    names = config.CaseNames()
    listed = "\n".join(POLICIES["cases"]["ottl_condition"]["span"])
    for attribute in (*names.case_id, *names.suite, *names.label, *names.expected):
        assert f'resource.attributes["{attribute}"] != nil' in listed
        assert f'or resource.attributes["{attribute}"]' in listed
    statuses = "\n".join(POLICIES["tool-status"]["ottl_condition"]["span"])
    assert set(re.findall(r'attributes\["([^"]+)"\]', statuses)) == _STATUS_KEYS


def test_no_trace_is_dropped_undecided() -> None:
    assert SAMPLING["block_on_overflow"] is True
    assert "drop" not in {policy["type"] for policy in POLICIES.values()}
    assert int(SAMPLING["decision_wait"].removesuffix("s")) > config.Live().wait_seconds
    assert SAMPLING["decision_cache"]["non_sampled_cache_size"] >= SAMPLING["num_traces"]
