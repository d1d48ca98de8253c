"""Debian's Alertmanager and Prometheus, as processes: what our monitor tells arrives and ends there, once each; an
alerting rule on the metrics of a running `serve` goes the whole way.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from ruamel.yaml import YAML

from otel_toolselect.cli._serving import served
from otel_toolselect.config import NotifyTarget
from otel_toolselect.errors import NotifyError
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor import notifiers
from otel_toolselect.monitor.delivery import Delivery
from otel_toolselect.monitor.files import AlertFiles
from otel_toolselect.monitor.routing import Route
from otel_toolselect.monitor.runner import Monitor, Rhythm, Watching
from otel_toolselect.monitor.sources import StoreSource
from otel_toolselect.store import Store
from tests.monitor.receiving import FIRE, T0, Endpoint, endpoint
from tests.store.builders import decision

DEPLOY = Path(__file__).parents[2] / "deploy" / "prometheus"
MINUTE = 60 * 10**9
WAIT_S = 60.0
ALERTS = """\
alerts: shop
defaults: {window: 5m, min_count: 10}
list:
  - {id: wrong, signal: wrong_tool, of: {suite: s}, condition: {above: 0.1}, owner: ann, severity: critical,
     runbook: "https://example.org/wrong"}
"""
T = TypeVar("T")

alertmanager = pytest.mark.skipif(
    shutil.which("prometheus-alertmanager") is None, reason="prometheus-alertmanager is not installed"
)
prometheus = pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")


@dataclass(frozen=True, slots=True)
class Running:
    """A process that listens on `address`."""

    process: subprocess.Popen[bytes]
    address: str

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=WAIT_S) as answer:
            return json.load(answer)

    def alerts(self) -> list[dict[str, Any]]:
        """Those that are active, as Alertmanager's API has them."""
        with suppress(OSError):
            return [a for a in self.ask("/api/v2/alerts") if a["status"]["state"] == "active"]
        return []


def wait_for(condition: Callable[[], T], *processes: subprocess.Popen[bytes]) -> T:
    end = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert all(process.poll() is None for process in processes), "a process ended"
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
    return found


@contextmanager
def started(folder: Path, *command: str) -> Iterator[Running]:
    folder.mkdir(exist_ok=True)
    log = folder / "log"
    with log.open("w") as said:
        process = subprocess.Popen([*command], stdout=said, stderr=said, cwd=folder)
    try:
        found = wait_for(lambda: re.search(r"Listening on\" address=(\S+)", log.read_text()), process)
        assert found is not None
        yield Running(process, found[1])
    finally:
        process.terminate()
        process.wait(WAIT_S)


@contextmanager
def alertmanager_at(folder: Path, hook: Endpoint, address: str = "127.0.0.1:0") -> Iterator[Running]:
    """The configuration that we ship, without its pauses, and with a receiver that notes."""
    config: Any = YAML(typ="safe").load(DEPLOY / "alertmanager.yml")
    config["route"] |= {"group_wait": "0s", "group_interval": "1s"}
    for receiver in config["receivers"]:
        for webhook in receiver["webhook_configs"]:
            webhook["url"] = f"{hook.url}/{receiver['name']}"
    folder.mkdir(exist_ok=True)
    (folder / "alertmanager.yml").write_text(json.dumps(config))  # JSON is YAML
    flags = ["--config.file=alertmanager.yml", "--storage.path=data", "--cluster.listen-address="]
    with started(folder, "prometheus-alertmanager", *flags, f"--web.listen-address={address}") as running:
        wait_for(lambda: running.ask("/api/v2/status"), running.process)
        yield running


@pytest.fixture
def hook() -> Iterator[Endpoint]:
    with endpoint() as made:
        yield made


def passed_on(hook: Endpoint) -> Counter[tuple[str, str, str]]:
    """What Alertmanager told its receivers: (receiver, alert, status)."""
    told: Counter[tuple[str, str, str]] = Counter()
    for request in hook.got:
        for alert in json.loads(request.body)["alerts"]:
            told[request.path.strip("/"), alert["labels"]["alertname"], alert["status"]] += 1
    return told


def target(url: str, **options: Any) -> notifiers.Notifier:
    return notifiers.make(NotifyTarget("am", "alertmanager", options={"url": url, **options}), {})


class Watch:
    """A monitor on a store, under a clock that is set, and a real delivery to Alertmanager."""

    def __init__(self, store: Store, folder: Path, url: str) -> None:
        self.store, self.now = store, T0
        path = folder / "shop.alerts.yaml"
        path.write_text(ALERTS)
        watching = Watching(AlertFiles([str(path)]), lambda alert: StoreSource(store, alert.window), [Route("am")])
        notifier = target(url, resend=0.1)
        self.monitor = Monitor(
            store,
            watching,
            lambda awake: Delivery([notifier], give_up_s=WAIT_S, first_pause_s=0.1, on_settled=awake),
            Rhythm(lease=600.0),
            clock=lambda: self.now,
        )

    def at(self, minute: int, *, wrong: int) -> None:
        """Twenty runs within the five minutes before, and a round."""
        rows = []
        for i in range(20):
            cell = Cell("search", "refund" if i < wrong else "search")
            layers = {"selection": "fail" if i < wrong else "pass"}
            start = T0 + (minute - 4) * MINUTE + i
            rows.append(decision(f"{minute}-{i}", start_ns=start, cells=(cell,), layers=layers))
        self.store.add_judged([], rows)
        self.now = T0 + minute * MINUTE
        self.monitor.round()


@pytest.mark.skipif(shutil.which("amtool") is None, reason="amtool is not installed")
def test_amtool_has_nothing_against_the_configuration_that_we_ship() -> None:
    command = ["amtool", "check-config", str(DEPLOY / "alertmanager.yml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, done.stdout + done.stderr


@alertmanager
def test_an_alert_begins_and_ends_in_alertmanager_once_each(store: Store, tmp_path: Path, hook: Endpoint) -> None:
    with alertmanager_at(tmp_path / "am", hook) as running:
        watch = Watch(store, tmp_path, f"http://{running.address}")
        try:
            watch.at(5, wrong=10)
            (alert,) = wait_for(running.alerts, running.process)
            assert alert["labels"] == {
                "alertname": "wrong",
                "severity": "critical",
                "owner": "ann",
                "signal": "wrong_tool",
            }
            assert alert["startsAt"] == "2025-06-01T00:05:00.000Z"
            assert alert["annotations"]["value"] == "50.0 % (10/20)"
            assert alert["annotations"]["runbook_url"] == "https://example.org/wrong"
            wait_for(lambda: passed_on(hook)["on-call", "wrong", "firing"], running.process)
            watch.at(10, wrong=0)
            wait_for(lambda: passed_on(hook)["on-call", "wrong", "resolved"], running.process)
            assert running.alerts() == []
            assert passed_on(hook) == {("on-call", "wrong", "firing"): 1, ("on-call", "wrong", "resolved"): 1}
        finally:
            watch.monitor.stop()
        outcomes = {(s.kind, s.receiver, s.outcome) for s in store.alerts.sendings()}
        assert outcomes == {("fire", "am", "delivered"), ("resolve", "am", "delivered")}


@alertmanager
def test_alertmanager_hears_again_of_what_lasts_after_a_restart(store: Store, tmp_path: Path, hook: Endpoint) -> None:
    with alertmanager_at(tmp_path / "am", hook) as running:
        watch = Watch(store, tmp_path, f"http://{running.address}")
        try:
            watch.at(5, wrong=10)
            wait_for(running.alerts, running.process)
            wait_for(lambda: passed_on(hook)["on-call", "wrong", "firing"], running.process)
            running.process.terminate()
            running.process.wait(WAIT_S)
            with alertmanager_at(tmp_path / "am", hook, running.address) as again:
                (alert,) = wait_for(again.alerts, again.process)
                assert alert["startsAt"] == "2025-06-01T00:05:00.000Z"
                watch.at(10, wrong=0)
                wait_for(lambda: passed_on(hook)["on-call", "wrong", "resolved"], again.process)
                assert passed_on(hook) == {("on-call", "wrong", "firing"): 1, ("on-call", "wrong", "resolved"): 1}
        finally:
            watch.monitor.stop()


@alertmanager
def test_alertmanager_refuses_what_is_no_alert_for_good(tmp_path: Path, hook: Endpoint) -> None:
    with alertmanager_at(tmp_path / "am", hook) as running:
        with pytest.raises(NotifyError) as raised:
            target(f"http://{running.address}/elsewhere").send([FIRE])
        assert not raised.value.retryable
        target(f"http://{running.address}").send([FIRE])
        (alert,) = wait_for(running.alerts, running.process)
        assert alert["labels"]["tool"] == "search"


@alertmanager
@prometheus
def test_a_rule_on_the_metrics_of_serve_arrives_in_alertmanager(tmp_path: Path, hook: Endpoint) -> None:
    config: Any = YAML(typ="safe").load(DEPLOY / "prometheus.yml")
    config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    config["rule_files"] = [str(DEPLOY / name) for name in config["rule_files"]]
    with alertmanager_at(tmp_path / "am", hook) as running, served(f"chdb://{tmp_path / 'store'}") as facts:
        (job,) = config["scrape_configs"]
        del job["authorization"]
        job["static_configs"] = [{"targets": [facts["http"].removeprefix("http://")]}]
        config["alerting"]["alertmanagers"][0]["static_configs"] = [{"targets": [running.address]}]
        folder = tmp_path / "prometheus"
        folder.mkdir()
        (folder / "prometheus.yml").write_text(json.dumps(config))
        flags = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0"]
        with started(folder, "prometheus", *flags) as prom:
            wait_for(lambda: scraped(prom), prom.process)
            spoil(facts["http"])
            (alert,) = wait_for(running.alerts, prom.process, running.process)
    assert alert["labels"]["alertname"] == "ToolselectDeadLetters"
    assert alert["labels"]["severity"] == "warning"
    assert alert["annotations"]["runbook_url"] == "docs/operations.md#toolselectdeadletters"


def scraped(prom: Running) -> bool:
    """Whether Prometheus has seen that there are no dead letters yet: a rise needs something to rise from."""
    with suppress(OSError):
        found = prom.ask("/api/v1/query?query=toolselect_dead_letters_total")["data"]["result"]
        return any(series["value"][1] == "0" for series in found)
    return False


def spoil(address: str) -> None:
    """A request that cannot be read, which goes to the dead letters."""
    headers = {"content-type": "application/x-protobuf"}
    request = urllib.request.Request(f"{address}/v1/traces", data=b"\xff" * 64, headers=headers)
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request, timeout=WAIT_S)
    assert raised.value.code == 400
    raised.value.close()
