"""deploy/prometheus against a running receiver, promtool and Prometheus themselves; docs/operations.md against both."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from otel_toolselect.app.store_figures import StoreCollector
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.receive import Receiver, Settings
from otel_toolselect.store import TableSize

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy" / "prometheus"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
TOKEN = "scrape-me"
WAIT_S = 60.0

promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
prometheus = pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")


class Shelf:
    """A sink, and as much of a store as its figures need."""

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        pass

    def sizes(self) -> tuple[TableSize, ...]:
        return (TableSize("otel_traces", rows=10, parts=2, bytes=3000),)


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    shelf: Any = Shelf()
    spool = tmp_path_factory.mktemp("spool")
    settings = Settings(spool=spool, grpc_port=None, http_port=0, bearer_token=TOKEN)
    with Receiver(settings, shelf, collectors=[StoreCollector(shelf)]) as running:
        running.counters.over_quota("shop")
        yield running


@pytest.fixture(scope="module")
def scraped(receiver: Receiver) -> str:
    asked = urllib.request.Request(
        f"http://127.0.0.1:{receiver.http_port}/metrics", headers={"authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(asked, timeout=WAIT_S) as answer:
        return str(answer.read().decode())


@pytest.fixture(scope="module")
def samples(scraped: str) -> set[str]:
    """Names of all series."""
    return {sample.name for family in text_string_to_metric_families(scraped) for sample in family.samples}


def rules() -> list[dict[str, str]]:
    files = sorted(DEPLOY.glob("*.rules.yml"))
    assert len(files) == 2
    groups = [group for file in files for group in YAML(typ="safe").load(file)["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def run(*command: str, given: str | None = None) -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=WAIT_S, cwd=DEPLOY)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_that_rules_name_exists(samples: set[str]) -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    named: set[str] = set()
    for rule in rules():
        for text in (rule["expr"], rule.get("annotations", {}).get("description", "")):
            named |= set(re.findall(r"(?:instance:)?(?:toolselect|process)_[a-z_]+(?::[a-z0-9_]+)?", text))
    assert len(named) > 20
    assert named - recorded <= samples


def test_every_metric_is_explained_and_nothing_else(samples: set[str]) -> None:
    table = OPERATIONS.partition("## Metrics")[2].partition("## Alerts")[0]
    explained = set(re.findall(r"`(toolselect_[a-z_]+)`", table))
    own = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in samples if name.startswith("toolselect_")}
    assert explained == own


def test_every_alert_has_its_section_its_severity_and_a_test() -> None:
    alerts = [rule for rule in rules() if "alert" in rule]
    tests = YAML(typ="safe").load(DEPLOY / "rules.test.yml")["tests"]
    fires = {t["alertname"] for case in tests for t in case.get("alert_rule_test", ()) if t["exp_alerts"]}
    sections = set(re.findall(r"^### (\w+)$", OPERATIONS, re.MULTILINE))
    names = {rule["alert"] for rule in alerts}
    assert fires == names
    assert sections == names
    for rule in alerts:
        noted: Any = rule["annotations"]
        assert set(noted) == {"summary", "description", "runbook_url"}
        assert noted["runbook_url"] == f"docs/operations.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in {"warning", "critical"}  # type: ignore[index]


def test_links_within_the_page_lead_somewhere() -> None:
    headings = {h.lower() for h in re.findall(r"^#+ (.+)$", OPERATIONS, re.MULTILINE)}
    links = re.findall(r"\(#([a-z]+)\)", OPERATIONS)
    assert links
    assert set(links) <= headings


@promtool
def test_promtool_finds_rules_and_configuration_in_order() -> None:
    run("promtool", "check", "config", "--syntax-only", "prometheus.yml")
    run("promtool", "check", "rules", *(file.name for file in DEPLOY.glob("*.rules.yml")))


def test_rules_are_tried_in_the_order_in_which_they_read_each_other() -> None:
    """Left to itself promtool takes groups in any order, and a recorded value may be of the minute before."""
    groups = [
        group["name"]
        for file in ("recording.rules.yml", "alerting.rules.yml")
        for group in YAML(typ="safe").load(DEPLOY / file)["groups"]
    ]
    assert YAML(typ="safe").load(DEPLOY / "rules.test.yml")["group_eval_order"] == groups


@promtool
def test_rules_do_what_their_tests_say() -> None:
    run("promtool", "test", "rules", "rules.test.yml")


@promtool
def test_promtool_has_nothing_against_our_metrics(scraped: str) -> None:
    families = scraped.split("# HELP ")
    ours = "".join("# HELP " + text for text in families if text.startswith("toolselect_"))
    run("promtool", "check", "metrics", given=ours)


@prometheus
def test_prometheus_scrapes_a_receiver_and_evaluates_the_rules(receiver: Receiver, tmp_path: Path) -> None:
    config: Any = YAML(typ="safe").load(DEPLOY / "prometheus.yml")
    (tmp_path / "token").write_text(TOKEN)
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(DEPLOY / name) for name in config["rule_files"]]
    (job,) = config["scrape_configs"]
    job["authorization"]["credentials_file"] = str(tmp_path / "token")
    job["static_configs"] = [{"targets": [f"127.0.0.1:{receiver.http_port}"]}]
    (tmp_path / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    log = tmp_path / "prometheus.log"
    command = ["prometheus", f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    with log.open("w") as said:
        process = subprocess.Popen([*command, "--web.listen-address=127.0.0.1:0"], stdout=said, stderr=said)
    try:
        address = wait_for(lambda: re.search(r"Listening on\" address=(\S+)", log.read_text()), process)[1]
        ready = wait_for(lambda: ask(address, "toolselect_ready"), process)
        usage = wait_for(lambda: ask(address, "instance:toolselect_spool:usage_ratio"), process)
        assert (ready, usage) == ("1", "0")
        assert ask(address, 'up{job="toolselect"}') == "1"
    finally:
        process.terminate()
        process.wait(WAIT_S)


def wait_for(condition: Any, process: subprocess.Popen[bytes]) -> Any:
    end = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert process.poll() is None, "prometheus ended"
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
    return found


def ask(address: str, query: str) -> str:
    """The value of the only series of a query; "" as long as there is none."""
    url = f"http://{address}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
            found = json.load(answer)["data"]["result"]
    except urllib.error.URLError:
        return ""
    return str(found[0]["value"][1]) if found else ""
