"""docs/deploy.md names files, services and commands that there are."""

from __future__ import annotations

import re

from tests.deploy._files import DEPLOY, DOCS, ROOT, document

PAGE = (DOCS / "deploy.md").read_text("utf-8")


def test_links_and_paths_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if "://" not in link]
    assert len(links) > 8
    for link in links:
        assert (DOCS / link).exists(), link
    for path in re.findall(r"\bdeploy/[\w./-]*\w", PAGE):
        assert (ROOT / path).exists() or path == "deploy/compose/.env", path


def test_every_part_of_deploy_is_on_the_page() -> None:
    for part in DEPLOY.iterdir():
        name = part.name.removesuffix(".dockerignore")
        assert f"../deploy/{name})" in PAGE, name
    for file in (DEPLOY / "collector").iterdir():
        assert f"`{file.name}`" in PAGE


def test_versions_are_those_of_the_files() -> None:
    image = document(DEPLOY / "compose" / "compose.yaml")["services"]["collector"]["image"]
    assert f"contrib distribution, {image.rpartition(':')[2].removesuffix('.0')}." in PAGE


def test_what_it_says_of_stopping_is_what_the_files_say() -> None:
    pod = document(DEPLOY / "kubernetes" / "base" / "stateful-set.yaml")["spec"]["template"]["spec"]
    assert f"`terminationGracePeriodSeconds` ({pod['terminationGracePeriodSeconds']})" in PAGE
    (container,) = pod["containers"]
    assert "time.sleep(5)" in container["lifecycle"]["preStop"]["exec"]["command"][-1]
    assert "Five seconds pass" in PAGE
