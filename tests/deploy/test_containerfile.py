"""deploy/Containerfile: everything that it copies is there and reaches the builder, and nobody in it is root."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from tests.deploy._files import DEPLOY, GRPC_PORT, HTTP_PORT, OUR_VARIABLES, PINNED, ROOT, image_path

TEXT = (DEPLOY / "Containerfile").read_text("utf-8").replace("\\\n", " ")
STEPS = [line.split(None, 1) for line in TEXT.splitlines() if line.strip() and not line.startswith("#")]


def steps(kind: str) -> list[str]:
    return [rest for name, rest in STEPS if name == kind]


def test_base_images_are_pinned_and_equal() -> None:
    images = [step.split()[0] for step in steps("FROM")]
    assert len(images) == 2
    assert len(set(images)) == 1
    assert PINNED.match(images[0])


def test_what_is_copied_is_there_and_not_ignored() -> None:
    wanted = (DEPLOY / "Containerfile.dockerignore").read_text("utf-8").split()
    assert wanted[0] == "*"
    let_in = [pattern[1:] for pattern in wanted if pattern.startswith("!")]
    copied = [name for step in steps("COPY") if not step.startswith("--from") for name in step.split()[:-1]]
    assert set(let_in) == set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
        assert any(fnmatch(name, pattern) for pattern in let_in), name


def test_extras_and_build_tools_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = re.search(r'"otel-toolselect\[([a-z,]+)\]"', TEXT)
    assert named is not None
    assert set(named[1].split(",")) <= set(project["project"]["optional-dependencies"])
    assert "notify" in named[1]  # the alerts of compose and Kubernetes go to Alertmanager
    locked = (ROOT / "requirements.lock").read_text("utf-8")
    for tool in ("hatchling", "editables"):
        assert re.search(rf"^{tool}==", locked, re.MULTILINE), tool
    assert "--require-hashes" in TEXT


def test_it_runs_as_nobody_in_particular_on_our_ports() -> None:
    assert steps("USER") == ["10001:10001"]
    assert steps("EXPOSE") == [f"{GRPC_PORT} {HTTP_PORT}"]
    assert steps("ENTRYPOINT") == ['["toolselect"]']
    assert steps("CMD") == ['["serve"]']
    set_here = re.findall(r"\b(TOOLSELECT_[A-Z_]+)=", " ".join(steps("ENV")))
    assert set_here
    assert set(set_here) <= OUR_VARIABLES


def test_rule_packs_are_where_settings_look_for_them() -> None:
    assert "rules /usr/share/toolselect/rules" in steps("COPY")
    found = image_path("/usr/share/toolselect/rules/safety.yaml")
    assert found is not None
    assert found.is_file()
    assert image_path(str(Path("/etc/else"))) is None
