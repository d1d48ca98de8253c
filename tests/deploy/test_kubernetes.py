"""deploy/kubernetes: references that resolve, in the base and in what kustomize makes of the overlay."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.deploy._files import (
    DEPLOY,
    DOCS,
    GRPC_PORT,
    HTTP_PORT,
    OUR_VARIABLES,
    PINNED,
    document,
    documents,
    image_path,
    settings,
)

BASE = DEPLOY / "kubernetes" / "base"
EXAMPLE = DEPLOY / "kubernetes" / "overlays" / "example"
KUSTOMIZATIONS = [BASE, EXAMPLE]
VERSIONS = {
    "Namespace": "v1", "ServiceAccount": "v1", "Service": "v1", "ConfigMap": "v1", "StatefulSet": "apps/v1",
    "PodDisruptionBudget": "policy/v1", "NetworkPolicy": "networking.k8s.io/v1",
}  # fmt: skip
KEYS = {
    "ServiceAccount": {"automountServiceAccountToken"},
    "ConfigMap": {"data"},
}
POD_KEYS = {
    "serviceAccountName", "automountServiceAccountToken", "enableServiceLinks", "terminationGracePeriodSeconds",
    "securityContext", "topologySpreadConstraints", "containers", "volumes",
}  # fmt: skip
CONTAINER_KEYS = {
    "name", "image", "imagePullPolicy", "args", "env", "ports", "startupProbe", "livenessProbe", "readinessProbe",
    "lifecycle", "resources", "securityContext", "volumeMounts",
}  # fmt: skip
SECRETS = {"toolselect-store", "toolselect-tokens", "toolselect-tls"}

kustomize = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


def base() -> list[dict[str, Any]]:
    return [found for name in document(BASE / "kustomization.yaml")["resources"] for found in documents(BASE / name)]


def built(folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return list(YAML(typ="safe").load_all(done.stdout))


def one(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = (o for o in objects if o["kind"] == kind)
    return found


def pod(objects: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = one(objects, "StatefulSet")["spec"]["template"]["spec"]
    return found


def container(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = pod(objects)["containers"]
    return dict(found)


def named(value: Any, key: str) -> Iterator[Any]:
    """What stands under a key, wherever it is."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from named(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from named(inner, key)


@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.name)
def test_files_of_a_kustomization_are_all_that_are_there(folder: Path) -> None:
    written = document(folder / "kustomization.yaml")
    generated = [file for entry in written["configMapGenerator"] for file in entry["files"]]
    patches = [patch["path"] for patch in written.get("patches", ())]
    local = {name for name in written["resources"] if not name.startswith("..")}
    assert {*local, *generated, *patches, "kustomization.yaml"} == {path.name for path in folder.iterdir()}
    for name in set(written["resources"]) - local:
        assert (folder / name / "kustomization.yaml").is_file()


def check(objects: list[dict[str, Any]]) -> None:
    """What must hold of the base, and of everything that is made of it."""
    for found in objects:
        assert found["apiVersion"] == VERSIONS[found["kind"]]
        assert set(found) <= {"apiVersion", "kind", "metadata", "spec"} | KEYS.get(found["kind"], set())
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", found["metadata"]["name"])
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    assert len(set(names)) == len(names)
    inside = pod(objects)
    assert set(inside) <= POD_KEYS
    only = container(objects)
    assert set(only) <= CONTAINER_KEYS
    assert ("ServiceAccount", inside["serviceAccountName"]) in names
    assert ("Service", one(objects, "StatefulSet")["spec"]["serviceName"]) in names
    claimed = {claim["metadata"]["name"] for claim in one(objects, "StatefulSet")["spec"]["volumeClaimTemplates"]}
    volumes = {volume["name"] for volume in inside["volumes"]} | claimed
    assert {mount["name"] for mount in only["volumeMounts"]} == volumes
    secrets = {*named(inside, "secretName"), *(ref["name"] for ref in named(inside, "secretKeyRef"))}
    assert secrets == SECRETS
    ports = {port["name"]: port["containerPort"] for port in only["ports"]}
    assert ports == {"otlp-grpc": GRPC_PORT, "otlp-http": HTTP_PORT}
    for service in (o for o in objects if o["kind"] == "Service"):
        for port in service["spec"]["ports"]:
            assert ports[port["targetPort"]] == port["port"]
    for policy in (o for o in objects if o["kind"] == "NetworkPolicy"):
        for rule in policy["spec"].get("ingress", ()):
            assert {port["port"] for port in rule["ports"]} <= set(ports)


def test_the_base_is_sound() -> None:
    check(base())


@kustomize
@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.name)
def test_what_kustomize_makes_is_sound_and_its_references_resolve(folder: Path) -> None:
    objects = built(folder)
    check(objects)
    maps = {o["metadata"]["name"]: set(o["data"]) for o in objects if o["kind"] == "ConfigMap"}
    used = {volume["configMap"]["name"] for volume in pod(objects)["volumes"] if "configMap" in volume}
    assert used == set(maps)
    assert PINNED.match(container(objects)["image"])
    labels = one(objects, "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    selectors = [*named(objects, "matchLabels"), *(o["spec"]["selector"] for o in objects if o["kind"] == "Service")]
    of_pods = [s for s in selectors if any(key.startswith("app.kubernetes.io/") for key in s)]
    assert len(of_pods) >= 6
    for selector in of_pods:
        assert selector.items() <= labels.items()
    assert {o["metadata"].get("namespace") for o in objects if o["kind"] != "Namespace"} == {"toolselect"}


@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.name)
def test_settings_are_read_and_their_files_are_mounted(folder: Path) -> None:
    found = settings(folder / "toolselect.toml")
    mounts = {mount["mountPath"]: mount["name"] for mount in container(base())["volumeMounts"]}
    held = {volume["name"]: volume for volume in pod(base())["volumes"]}
    if folder == EXAMPLE:
        (patched,) = document(EXAMPLE / "stateful-set.patch.yaml")["spec"]["template"]["spec"]["containers"]
        mounts |= {mount["mountPath"]: mount["name"] for mount in patched["volumeMounts"]}
    for path in (found.receive.tokens, found.receive.tls_cert, found.receive.tls_key):
        mounted, _, file = path.rpartition("/")
        assert file in {item["path"] for item in held[mounts[mounted]]["secret"]["items"]}
    assert any(found.receive.spool.startswith(f"{mount}/") for mount in mounts)
    for path in (*found.live.suites, *found.live.rules, *found.monitor.alerts):
        source = image_path(path) or folder / Path(path).name
        assert source.is_file(), path
        assert image_path(path) or str(Path(path).parent) in mounts
    grace = pod(base())["terminationGracePeriodSeconds"]
    assert grace > found.spool.stop_s + 5  # what the pause before it takes


def test_variables_exist_and_the_settings_file_is_where_it_is_looked_for() -> None:
    environment = {entry["name"]: entry for entry in container(base())["env"]}
    assert set(environment) <= OUR_VARIABLES
    folder, _, file = environment["TOOLSELECT_CONFIG"]["value"].rpartition("/")
    mounts = {mount["mountPath"]: mount["name"] for mount in container(base())["volumeMounts"]}
    (volume,) = (v for v in pod(base())["volumes"] if v["name"] == mounts[folder])
    generated = {entry["name"]: entry["files"] for entry in document(BASE / "kustomization.yaml")["configMapGenerator"]}
    assert file in generated[volume["configMap"]["name"]]
    assert "value" not in environment["TOOLSELECT_STORE"]  # it holds a password


def test_probes_ask_what_there_is_to_ask() -> None:
    only = container(base())
    asked = {kind: only[kind]["httpGet"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {kind: probe["path"] for kind, probe in asked.items()} == {
        "startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz",
    }  # fmt: skip
    assert {(probe["port"], probe["scheme"]) for probe in asked.values()} == {("otlp-http", "HTTPS")}


def test_it_is_nobody_and_can_write_only_to_volumes() -> None:
    inside, only = pod(base()), container(base())
    who = inside["securityContext"]
    assert (who["runAsNonRoot"], who["runAsUser"], who["fsGroup"]) == (True, 10001, 10001)
    assert who["seccompProfile"] == {"type": "RuntimeDefault"}
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    writable = {mount["mountPath"] for mount in only["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/var/lib/toolselect", "/tmp"}
    assert only["resources"]["limits"]["memory"]
    assert only["resources"]["requests"]["cpu"]
    assert inside["automountServiceAccountToken"] is False
    for volume in inside["volumes"]:
        if "secret" in volume:  # readable for our group, for no others: `receive.tokens` would warn
            assert volume["secret"]["defaultMode"] == 0o440


def test_the_disk_holds_what_the_spool_may() -> None:
    (claim,) = one(base(), "StatefulSet")["spec"]["volumeClaimTemplates"]
    size = int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) * 2**30
    found = settings(BASE / "toolselect.toml").spool
    assert size >= 2 * (found.max_bytes + found.dead_letter_bytes)


def test_a_drain_takes_one_receiver_and_nothing_comes_in_unsaid() -> None:
    assert one(base(), "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    policies = [o["spec"] for o in base() if o["kind"] == "NetworkPolicy"]
    deny = [p for p in policies if "ingress" not in p and "egress" not in p]
    assert [p["podSelector"] for p in deny] == [{}]
    assert all(set(p["policyTypes"]) == {"Ingress", "Egress"} for p in policies)


def test_every_secret_is_made_on_the_page() -> None:
    page = (DOCS / "deploy.md").read_text("utf-8")
    for name in SECRETS:
        assert re.search(rf"kubectl .*create secret \w+ {name} ", page), name


def test_both_examples_hold_the_same_alerts() -> None:
    name = "production.alerts.yaml"
    assert (EXAMPLE / name).read_text("utf-8") == (DEPLOY / "compose" / name).read_text("utf-8")
