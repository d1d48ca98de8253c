"""deploy/compose: every name leads somewhere, secrets are made by init.sh, settings are read by the program."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.receive.tokens import digest_of, read_tokens
from otel_toolselect.store.dsn import Remote, parse
from tests.deploy._files import (
    DEPLOY,
    GRPC_PORT,
    HTTP_PORT,
    OUR_VARIABLES,
    PINNED,
    document,
    image_path,
    settings,
)

HERE = DEPLOY / "compose"
COMPOSE = document(HERE / "compose.yaml")
SERVICES: dict[str, Any] = COMPOSE["services"]
KEYS = {
    "image", "build", "command", "environment", "volumes", "tmpfs", "secrets", "ports", "networks", "depends_on",
    "mem_limit", "cpus", "stop_grace_period", "healthcheck", "restart", "read_only", "cap_drop", "cap_add",
    "security_opt", "logging", "ulimits",
}  # fmt: skip


def mounts(name: str) -> dict[str, str]:
    """Target -> source, of folders, files and volumes alike."""
    found = {}
    for mount in SERVICES[name].get("volumes", ()):
        source, target, *mode = mount.split(":")
        assert mode in ([], ["ro"])
        assert target not in found
        found[target] = source
    return found


def test_only_keys_that_compose_knows_are_used() -> None:
    assert set(COMPOSE) == {"name", "x-hardened", "services", "networks", "volumes", "secrets"}
    for service in SERVICES.values():
        assert set(service) <= KEYS
    assert set(SERVICES) == {"clickhouse", "toolselect", "collector", "prometheus", "alertmanager", "grafana"}


@pytest.mark.parametrize("name", SERVICES)
def test_every_reference_leads_somewhere(name: str) -> None:
    service = SERVICES[name]
    for source in mounts(name).values():
        if source.startswith("."):
            assert (HERE / source).exists(), source
        else:
            assert source in COMPOSE["volumes"]
    assert {secret["source"] for secret in service.get("secrets", ())} <= set(COMPOSE["secrets"])
    assert set(service["networks"]) <= set(COMPOSE["networks"])
    for other, how in service.get("depends_on", {}).items():
        assert how == {"condition": "service_healthy"}
        assert "healthcheck" in SERVICES[other]


def test_nothing_is_declared_that_nothing_uses() -> None:
    volumes = {source for name in SERVICES for source in mounts(name).values() if not source.startswith(".")}
    assert volumes == set(COMPOSE["volumes"])
    secrets = {s["source"] for service in SERVICES.values() for s in service.get("secrets", ())}
    assert secrets == set(COMPOSE["secrets"])
    assert {n for service in SERVICES.values() for n in service["networks"]} == set(COMPOSE["networks"])


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_pinned_bounded_and_hardened(name: str) -> None:
    service = SERVICES[name]
    assert PINNED.match(service["image"]), service["image"]
    assert service["mem_limit"]
    assert service["cpus"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("read_only") or name == "clickhouse"


def test_ports_are_ours_and_reach_this_machine_only() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in published)
    inner = {port.rpartition(":")[2] for port in SERVICES["collector"]["ports"]}
    assert inner == {str(GRPC_PORT), str(HTTP_PORT)}
    assert f"127.0.0.1:{HTTP_PORT}/healthz" in SERVICES["toolselect"]["healthcheck"]["test"][-1]
    for name, service in SERVICES.items():  # a port can only be published on a network with a way out
        assert ("edge" in service["networks"]) == bool(service.get("ports")), name


def test_our_settings_are_read_and_their_files_are_mounted() -> None:
    inside = mounts("toolselect")
    environment = SERVICES["toolselect"]["environment"]
    assert set(environment) <= OUR_VARIABLES
    found = settings(HERE / inside[environment["TOOLSELECT_CONFIG"]])
    target = {secret["target"] for secret in SERVICES["toolselect"]["secrets"]}
    assert found.receive.tokens.removeprefix("/run/secrets/") in target
    assert (found.receive.grpc_port, found.receive.http_port) == (GRPC_PORT, HTTP_PORT)
    assert any(found.receive.spool.startswith(f"{mount}/") for mount in inside)
    for path in (*found.live.suites, *found.live.rules, *found.monitor.alerts):
        held = image_path(path) or HERE / inside[path]
        assert held.is_file(), path
    minutes = int(SERVICES["toolselect"]["stop_grace_period"].removesuffix("m"))
    assert minutes * 60 > found.spool.stop_s
    (notify,) = found.monitor.notify
    assert "alertmanager:9093" in str(notify.options["url"])


def test_the_store_is_the_user_and_database_that_clickhouse_has() -> None:
    place = parse(re.sub(r"\$\{[^}]+\}", "x", SERVICES["toolselect"]["environment"]["TOOLSELECT_STORE"]))
    assert isinstance(place, Remote)
    assert place.host in SERVICES
    users = ET.parse(HERE / "clickhouse-users.xml").getroot()
    grafana = SERVICES["grafana"]["environment"]
    for user in (place.user, grafana["CLICKHOUSE_READER"]):
        entry = users.find(f"users/{user}")
        assert entry is not None
        password = entry.find("password")
        assert password is not None
        assert password.get("from_env") in SERVICES[place.host]["environment"]
        grants = [query.text or "" for query in entry.findall("grants/query")]
        assert any(grant.endswith(f" ON {place.database}.*") for grant in grants)
    assert grafana["CLICKHOUSE_DATABASE"] == place.database
    assert users.find("users/default[@remove]") is not None
    reader = users.find(f"users/{grafana['CLICKHOUSE_READER']}/profile")
    assert reader is not None
    assert users.findtext(f"profiles/{reader.text}/readonly") == "1"
    assert all(q.text.startswith("GRANT SELECT") for q in users.findall("users/grafana/grants/query") if q.text)


def test_prometheus_scrapes_us_and_finds_its_files(tmp_path: Path) -> None:
    written = document(HERE / "prometheus.yml")
    inside = mounts("prometheus")
    for file in written["rule_files"]:
        assert (HERE / inside[f"/etc/prometheus/{file}"]).is_file()
    (job,) = written["scrape_configs"]
    assert "toolselect" in job["job_name"]
    assert job["static_configs"] == [{"targets": [f"toolselect:{HTTP_PORT}"]}]
    targets = {f"/run/secrets/{secret['target']}" for secret in SERVICES["prometheus"]["secrets"]}
    assert job["authorization"]["credentials_file"] in targets
    (managers,) = written["alerting"]["alertmanagers"]
    assert managers["static_configs"] == [{"targets": ["alertmanager:9093"]}]
    if shutil.which("promtool"):
        for file in (HERE / "prometheus.yml", *(HERE / inside[f"/etc/prometheus/{f}"] for f in written["rule_files"])):
            shutil.copy(file, tmp_path)
        done = subprocess.run(
            ["promtool", "check", "config", "--syntax-only", "prometheus.yml"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_init_makes_every_secret_once(tmp_path: Path) -> None:
    shutil.copy(HERE / "init.sh", tmp_path)
    init = ["sh", "init.sh"]
    subprocess.run(init, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    made = {path: path.read_bytes() for path in (tmp_path / ".env", *(tmp_path / "secrets").iterdir())}
    subprocess.run(init, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert {path: path.read_bytes() for path in made} == made
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0
    for secret in COMPOSE["secrets"].values():
        assert tmp_path / secret["file"] in made
    variables = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text("utf-8").split())
    wanted = set(re.findall(r"\$\{(\w+):\?", (HERE / "compose.yaml").read_text("utf-8")))
    assert wanted == set(variables)
    assert len(set(variables.values())) == len(variables)
    assert all(len(value) == 48 for value in variables.values())
    entries = {entry.name: entry for entry in read_tokens(tmp_path / "secrets" / "tokens.toml")}
    scrape = (tmp_path / "secrets" / "prometheus.token").read_text("utf-8")
    assert entries["collector"].digest == digest_of(variables["TOOLSELECT_SEND_TOKEN"])
    assert entries["prometheus"].digest == digest_of(scrape)
    assert entries["collector"].scopes == {"send"}
    assert entries["prometheus"].scopes == {"read"}


def test_what_init_makes_is_never_committed() -> None:
    assert set((HERE / ".gitignore").read_text("utf-8").split()) == {".env", "secrets/"}
