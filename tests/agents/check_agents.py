"""The runner against agents of three frameworks, over a process, HTTP and a callable, with a scripted model server.

Run by `make agents`, which installs the frameworks into an environment of their own; not part of `make test`, by its
name. What each case does in each attempt is scripted, so accuracy, confusion and flip rate are known beforehand.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from otel_toolselect.app.running import Ran, Wanted, run
from otel_toolselect.config import Settings
from otel_toolselect.stats import repeats
from otel_toolselect.suites.runner import Options, Playing
from tests.agents.modelserver import Script, serving

HERE = Path(__file__).parent
PYTHON = Path(os.environ.get("TOOLSELECT_AGENTS", HERE.parents[1] / "build/agents/venv/bin/python"))
FRAMEWORKS = ("openai_agents", "pydantic_ai", "langchain")
ATTEMPTS = 5
CASES = ("orders", "refund", "hello")
SUITE = """
suite: shop
policy:
  tools:
    search_orders: {effect: read}
    refund_order: {effect: write, risk: high}
cases:
  - id: orders
    prompt: Which orders has C-1?
    expect: {first: [search_orders], args: {search_orders: {customer_id: C-1}}}
  - id: refund
    prompt: Refund the order of C-1
    expect: {first: [search_orders], eventually: [refund_order]}
  - {id: busy, prompt: Slow down, expect: {first: [search_orders]}}
  - {id: hello, prompt: Hello there, expect: {class: none}}
"""
SEARCH = {"call": "search_orders", "args": {"customer_id": "C-1"}}
REFUND = {"call": "refund_order", "args": {"order_id": "A-1"}}
SAY = {"say": "That is done."}
RIGHT, PREMATURE = [SEARCH, REFUND, SAY], [REFUND, SAY]
SCRIPT: Script = {
    "Which orders has C-1?": [[SEARCH, SAY]],
    "Refund the order of C-1": [RIGHT, PREMATURE, RIGHT, PREMATURE, RIGHT],  # the case flips
    "Slow down": [[{"status": 429}]],
    "Hello there": [[{"say": "Welcome to the shop."}]],
}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serving(SCRIPT) as (url, _):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted-0123456789")
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "0")
        monkeypatch.setenv("PYTHONPATH", str(HERE))
        yield url


def play(folder: Path, kind: str, where: str, attempts: int, port: int | None = None, cases: Sequence[str] = ()) -> Ran:
    (folder / "suite.yaml").write_text(SUITE, "utf-8")
    said: list[str] = []
    wanted = Wanted(
        str(folder / "suite.yaml"),
        kind,
        Options(where, python=str(PYTHON)),
        attempts=attempts,
        cases=cases,
        folder=folder / "run",
        playing=Playing(concurrency=2, spans_s=60.0),
        port=port,
    )
    return run(
        wanted, Settings(), stop=threading.Event(), tell=said.append, progress=lambda *_: nullcontext(lambda: None)
    )


def check(ran: Ran, attempts: int) -> None:
    """Every attempt once, by its spans, with the first actions and arguments of the script."""
    report = ran.done.report
    assert ran.left == ran.nothing == ran.late == 0
    assert len(report.runs) == 3 * attempts
    assert {(v.case_id, v.attempt) for v in report.runs} == {
        (case, n) for case in CASES for n in range(1, attempts + 1)
    }
    premature = 2 if attempts == ATTEMPTS else 0
    assert report.summary.judged == 3 * attempts
    assert report.summary.layers["selection"].passed == 3 * attempts - premature
    assert {(c.expected, c.observed): n for c, n in report.confusion.cells} == {
        ("search_orders", "search_orders"): 2 * attempts - premature,
        ("none", "none"): attempts,
        **({("search_orders", "refund_order"): premature} if premature else {}),
    }
    orders = [v for v in report.runs if v.case_id == "orders"]
    assert all(v.layers["arguments"].status == "pass" for v in orders)
    flips = repeats(report.runs).flips
    assert (flips.passed, flips.n) == ((1, 3) if premature else (0, 0))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_over_a_process(framework: str, model: str, tmp_path: Path) -> None:
    command = f"{PYTHON} {HERE / f'with_{framework}.py'} {{prompt}}"
    check(play(tmp_path, "exec", command, 1, cases=CASES), 1)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_model_that_is_rate_limited_is_the_platforms_fault(framework: str, model: str, tmp_path: Path) -> None:
    """However the framework dies of it, and whatever else it prints."""
    command = f"{PYTHON} {HERE / f'with_{framework}.py'} {{prompt}}"
    report = play(tmp_path, "exec", command, 1, cases=["busy"]).done.report
    assert (report.summary.runs, report.summary.infra) == (1, 1)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_as_a_callable(framework: str, model: str, tmp_path: Path) -> None:
    check(play(tmp_path, "callable", f"with_{framework}:answer", ATTEMPTS, cases=CASES), ATTEMPTS)


@contextmanager
def served(framework: str, port: int) -> Iterator[str]:
    """The agent as a server that exports to a port where nobody listens yet."""
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    command = [str(PYTHON), str(HERE / f"with_{framework}.py"), "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/"
        finally:
            process.kill()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_over_http(framework: str, model: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with served(framework, port) as url:
        check(play(tmp_path, "http", url, ATTEMPTS, port, CASES), ATTEMPTS)
