"""Each kind of target: what an agent is told, what is judged, and what is the platform's fault."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import propagate
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_toolselect import app
from otel_toolselect.cli._serving import served
from otel_toolselect.cli._store import opened
from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.instrument import CaseSpanProcessor
from otel_toolselect.rules import load_suite
from otel_toolselect.suites.runner import Options, Playing, kinds, plan
from otel_toolselect.suites.runner.carriers import Carriers
from otel_toolselect.suites.runner.catalogs import Offer, PinnedCatalog, read_tools
from tests.agents.modelserver import serving
from tests.cli.conftest import Cli, cli
from tests.suites.runner import agent
from tests.suites.runner.conftest import RIGHT, Shop, by_case

__all__ = ["cli"]
COMMAND = f"{sys.executable} -m tests.suites.runner.agent {{prompt}}"
CALLABLE = "tests.suites.runner.agent"
PROMPT = 'Refund A-1; it is "broken" $(id) {case_id}'


def passed(shop: Shop, ran: Any) -> None:
    """All three cases once, by their spans, right."""
    found = by_case(ran)
    assert set(found) == {("refund", 1), ("invoice", 1), ("hello", 1)}
    assert [found[key].first_action for key in sorted(found)] == ["none", "get_invoice", "refund_order"]
    assert ran.done.report.summary.layers["selection"].passed == 3
    assert ran.left == ran.nothing == ran.late == 0


def test_exec(shop: Shop) -> None:
    ran = shop.run("exec", COMMAND)
    passed(shop, ran)
    assert {record["source"] for record in shop.journal().values()} == {"spans"}
    told = next(call for call in shop.calls() if call["case"] == "refund")
    assert told["prompt"] == told["stdin"] == PROMPT  # one argument, nothing in it expanded


def test_callable(shop: Shop) -> None:
    ran = shop.run("callable", f"{CALLABLE}:answer", attempts=2, playing=Playing(concurrency=2))
    assert ran.done.report.summary.layers["selection"].passed == 6
    calls = shop.calls()
    assert len({call["pid"] for call in calls}) <= 2  # workers are kept
    assert sorted((call["case"], call["attempt"]) for call in calls) == sorted(by_case(ran))


def test_an_async_callable_over_grpc(shop: Shop) -> None:
    passed(shop, shop.run("callable", f"{CALLABLE}:answer_later", protocol="grpc"))
    assert {record["source"] for record in shop.journal().values()} == {"spans"}


def test_calls_in_the_answer(shop: Shop) -> None:
    """An agent without spans that states its calls is judged by them, results included."""
    ran = shop.run("callable", f"{CALLABLE}:stated")
    passed(shop, ran)
    assert {record["source"] for record in shop.journal().values()} == {"answer"}
    refund = next(run for run in ran.done.runs.values() if run.case_id == "refund")
    assert refund.results[0].value == {"ok": True}
    assert refund.calls[0].executed
    assert refund.calls[0].emitted


def test_an_agent_that_shows_nothing_is_not_judged(shop: Shop) -> None:
    ran = shop.run("callable", f"{CALLABLE}:mute")
    assert ran.nothing == 3
    assert ran.done.report.summary.judged == 0
    assert ran.done.report.summary.incomplete == 3  # also for the case that expects no call


@pytest.mark.parametrize(
    ("script", "timeout_s", "said"),
    [
        ("sleep 60", 0.2, "timeout"),
        ("kill -9 $$", 30.0, "signal SIGKILL"),
        ("exit 137", 30.0, "signal SIGKILL"),
        ("echo 'openai.RateLimitError: Error code: 429 - slow down' >&2; echo bye >&2; exit 1", 30.0, "429"),
    ],
)
def test_faults_of_the_platform_leave_the_figures(shop: Shop, script: str, timeout_s: float, said: str) -> None:
    ran = shop.run("exec", shlex.join(["sh", "-c", script]), cases=["hello"], timeout_s=timeout_s)
    assert by_case(ran)["hello", 1].excluded == "infra"
    assert said in shop.journal()["hello", 1]["fault"]
    assert ran.done.report.summary.infra == 1
    assert ran.done.report.summary.judged == 0


def test_an_agent_that_fails_is_judged_by_what_it_did(shop: Shop) -> None:
    shop.script({"invoice": [{"call": "find_orders", "exit": 3}], "hello": [{"exit": 3, "early": True}]})
    ran = shop.run("exec", COMMAND)
    found = by_case(ran)
    assert found["invoice", 1].layers["selection"].status == "fail"
    assert found["hello", 1].excluded == "incomplete"  # no answer is not the answer without a call
    assert "exit code 3" in shop.journal()["hello", 1]["trouble"]


def test_exceptions_of_a_callable(shop: Shop) -> None:
    """Those of the platform are told from those of the agent."""
    kinds_ = {"refund": "TimeoutError", "invoice": "ConnectionError", "hello": "KeyError"}
    shop.script({case: [{"raise": name}] for case, name in kinds_.items()})
    found = by_case(shop.run("callable", f"{CALLABLE}:answer"))
    assert [found[case, 1].excluded for case in kinds_] == ["infra", "infra", "incomplete"]
    assert "KeyError" in shop.journal()["hello", 1]["trouble"]


def test_a_worker_that_hangs_or_dies_is_replaced(shop: Shop) -> None:
    shop.script({"refund": [{"hang": 60}], "invoice": [{"signal": 11}]})
    ran = shop.run("callable", f"{CALLABLE}:answer", timeout_s=2.0)
    found = by_case(ran)
    assert found["refund", 1].excluded == found["invoice", 1].excluded == "infra"
    assert found["hello", 1].layers["selection"].status == "pass"


@contextmanager
def web_agent(endpoint: str, *, named_by: str, statuses: list[int]) -> Iterator[str]:
    """The agent as a server that was there before the runner; `named_by`: what it heeds of the headers."""
    provider = TracerProvider(shutdown_on_exit=False)
    if named_by == "baggage":
        provider.add_span_processor(CaseSpanProcessor())  # type: ignore[arg-type]
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
    tracer = provider.get_tracer("agent")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            prompt = json.loads(self.rfile.read(int(self.headers["content-length"])))["prompt"]
            status = statuses.pop() if statuses else 200
            if status == 200 and named_by != "nothing":
                carried = dict(self.headers) if named_by == "traceparent" else {"baggage": self.headers["baggage"]}
                case = {PROMPT: "refund", "Show my invoice": "invoice", "Hello": "hello"}[prompt]
                step = agent.step_of(case, 1)
                call = [{"type": "tool_call", "name": step["call"], "arguments": {}}] if "call" in step else []
                text = [] if call else [{"type": "text", "content": step["say"]}]
                said = json.dumps([{"role": "assistant", "parts": call or text}])
                context = propagate.extract(carried)
                with tracer.start_as_current_span(
                    "agent", context, attributes={"gen_ai.operation.name": "invoke_agent"}
                ):
                    chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": said}
                    with tracer.start_as_current_span("chat", attributes=chat):
                        pass
            data = json.dumps({"answer": "ok"}).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/ask"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        provider.shutdown()


def free_port() -> int:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        return int(server.server_address[1])


@pytest.mark.parametrize("named_by", ["traceparent", "baggage"])
def test_http(shop: Shop, named_by: str) -> None:
    port = free_port()
    with web_agent(f"http://127.0.0.1:{port}", named_by=named_by, statuses=[]) as url:
        passed(shop, shop.run("http", url, port=port, playing=Playing(spans_s=30.0)))


def test_http_faults_are_tried_again_where_asked(shop: Shop) -> None:
    port = free_port()
    with web_agent(f"http://127.0.0.1:{port}", named_by="traceparent", statuses=[429, 503]) as url:
        ran = shop.run("http", url, port=port, playing=Playing(concurrency=1, retries=3, spans_s=30.0, backoff_s=0.01))
    passed(shop, ran)
    assert max(record["tries"] for record in shop.journal().values()) == 3


def test_nobody_listens(shop: Shop) -> None:
    ran = shop.run("http", f"http://127.0.0.1:{free_port()}/", port=0)
    assert ran.done.report.summary.infra == 3
    assert all("Connect" in record["fault"] for record in shop.journal().values())


def test_when_not_one_comes_through_it_is_out_of_reach(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("suite: one\ncases: [{id: a, prompt: hello, expect: {class: none}}]\n")
    done = cli("run", "--suite", "one.yaml", "--http", f"http://127.0.0.1:{free_port()}/", "--port", "0")
    assert done.returncode == 4
    assert "1 infrastructure" in done.stdout
    assert "not one attempt came through" in done.stderr


def test_a_model_decides_and_nothing_is_executed(shop: Shop) -> None:
    script = {
        PROMPT: [[{"calls": [{"call": "refund_order"}, {"call": "find_orders"}]}]],
        "Show my invoice": [[{"call": "get_invoice", "args": {"month": "May"}}]],
        "Hello": [[{"say": "Hello to you."}]],
    }
    catalog = PinnedCatalog((Offer(read_tools(agent.TOOLS, "test")),))
    with serving(script) as (url, model):
        ran = shop.run("model", "m-1", base_url=url, catalog=catalog, system="Be kind.", key="sk-0123456789abcdef")
    passed(shop, ran)
    assert all(header["authorization"] == "Bearer sk-0123456789abcdef" for header in model.headers)
    assert all("baggage" not in header for header in model.headers)
    assert model.requests[0]["messages"][0] == {"role": "system", "content": "Be kind."}
    runs = {run.case_id: run for run in ran.done.runs.values()}
    assert [call.name for call in runs["refund"].calls] == ["refund_order", "find_orders"]
    assert runs["invoice"].calls[0].args == {"month": "May"}
    assert not runs["invoice"].calls[0].executed
    assert {run.model for run in runs.values()} == {"m-1"}
    assert runs["hello"].tools_offered == ("find_orders", "refund_order", "get_invoice")


def test_a_case_is_offered_the_tools_that_it_pins(shop: Shop) -> None:
    text = shop.suite.read_text("utf-8").replace("id: invoice,", "id: invoice, tools: [get_invoice],")
    shop.suite.write_text(text, "utf-8")
    catalog = PinnedCatalog((Offer(read_tools(agent.TOOLS, "test")),))
    with serving({"Show my invoice": [[{"call": "get_invoice"}]]}) as (url, model):
        shop.run("model", "m-1", base_url=url, catalog=catalog, cases=["invoice"])
    assert [tool["function"]["name"] for tool in model.requests[0]["tools"]] == ["get_invoice"]
    few = PinnedCatalog((Offer(catalog.offers[0].tools[:1]),))
    shutil.rmtree(shop.folder / "run")
    with serving({}) as (url, _), pytest.raises(UsageError, match="invoice pins get_invoice"):
        shop.run("model", "m-2", base_url=url, catalog=few, cases=["invoice"])


def test_every_kind_says_what_it_is() -> None:
    assert set(kinds()) == {"callable", "exec", "http", "model"}
    for name, kind in kinds().items():
        assert kind.name == name
        assert kind.about
        with pytest.raises((UsageError, EnvironmentProblem)):
            kind.make(Options(""))


def test_a_prompt_that_no_argument_can_hold(shop: Shop) -> None:
    shop.suite.write_text(
        shop.suite.read_text("utf-8").replace("Hello}", "Hello").replace("prompt: Hello", f"prompt: {'x' * 140_000}"),
        "utf-8",
    )
    ran = shop.run("exec", "echo {prompt}", cases=["hello"])
    assert ran.done.report.summary.incomplete == 1
    assert "standard input" in shop.journal()["hello", 1]["trouble"]
    stdin = shlex.join(["sh", "-c", """test "$(wc -c)" -eq 140000 && echo '{"calls": []}'"""])
    assert shop.run("exec", stdin, cases=["hello"], to="stdin").done.report.summary.judged == 1


def test_a_program_that_is_not_there_is_said_before_anything_runs(shop: Shop) -> None:
    with pytest.raises(EnvironmentProblem, match="no program 'no-such-agent'"):
        shop.run("exec", "no-such-agent {prompt}")
    assert not (shop.folder / "run").exists()


def test_a_callable_that_cannot_be_imported(shop: Shop) -> None:
    with pytest.raises(UsageError, match="no_such_function"):
        shop.run("callable", f"{CALLABLE}:no_such_function")


def test_secrets_are_kept_nowhere(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "plain-text-0815")
    shop.script(
        {
            "invoice": [{"leak": True, "exit": 3, "message": "Bearer abcdefghijkl0817", "early": True}],
            "refund": [{"call": "refund_order", "args": {"key": "plain-text-0815", "other": "given-0816"}}],
        }
    )
    command = f"{COMMAND} --token sk-abcdefghijklmnop1234"
    shop.run("exec", command, env={"OTHER_TOKEN": "given-0816"}, cases=["invoice", "refund"])
    kept = "".join(p.read_text("utf-8") for p in (shop.folder / "run").rglob("*") if p.is_file())
    for secret in ("plain-text-0815", "given-0816", "abcdefghijkl0817", "sk-abcdefghijklmnop1234"):
        assert secret not in kept
        assert secret not in "".join(shop.said)
    assert "***" in kept
    assert (shop.folder / "run").stat().st_mode & 0o077 == 0


def test_spans_that_a_running_serve_receives(shop: Shop) -> None:
    """The agent sends to `serve`; the run finds its spans in that store, and leaves runs and verdicts there."""
    dsn = f"chdb://{shop.folder}/store"
    with served(dsn) as ports, web_agent(ports["http"], named_by="baggage", statuses=[]) as url:
        passed(shop, shop.run("http", url, from_store=True, keep=True, playing=Playing(spans_s=60.0)))
        with opened(dsn) as store:
            kept = {verdict.case_id: verdict for verdict in store.verdicts("shop")}
            again = app.evaluate(store, str(shop.suite))
    assert {case: verdict.layers["selection"].status for case, verdict in kept.items()} == dict.fromkeys(RIGHT, "pass")
    assert len(again.report.runs) == 3
    assert {run.run_id for run in again.report.runs} == {verdict.run_id for verdict in kept.values()}


def test_a_stop_while_a_worker_starts_is_no_failure(shop: Shop) -> None:
    target = kinds()["callable"].make(Options(f"{CALLABLE}:answer"))
    target.cancel()
    trial = Carriers("shop").trial(plan(load_suite(shop.suite), 1)[0])
    assert target.run(trial).fault == "stopped while a worker was starting"
    target.close()
