"""Reading what is deployed, for all tests of it: YAML documents, settings files, and the names of our own settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from otel_toolselect import config

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCS = ROOT / "docs"

GRPC_PORT = config.Settings().receive.grpc_port
HTTP_PORT = config.Settings().receive.http_port
OUR_VARIABLES = frozenset(config.BY_VARIABLE) | {config.CONFIG_VARIABLE}
PINNED = re.compile(r"^[a-z0-9./-]+:v?\d+\.\d+\.\d+[a-z0-9.-]*$")
"""An image with a whole version, so that two starts run the same."""


def documents(path: Path) -> list[Any]:
    """All documents of a YAML file; a key that is there twice is an error."""
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)  # what Kubernetes, Compose and the Collector read: 0440 is octal
    return [document for document in reader.load_all(path.read_text("utf-8")) if document is not None]


def document(path: Path) -> Any:
    (found,) = documents(path)
    return found


def settings(path: Path) -> config.Settings:
    """A settings file as the program reads it, with nothing of this machine's environment."""
    return config.load(env={config.CONFIG_VARIABLE: str(path)})


def image_path(path: str) -> Path | None:
    """Where a path of our image comes from in the repository, None when the image does not hold it."""
    packs = "/usr/share/toolselect/rules/"
    return ROOT / "rules" / path.removeprefix(packs) if path.startswith(packs) else None
