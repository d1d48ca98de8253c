"""What commands print fits the JSON Schemas that the site gives away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from docs._reference import outputs, shapes

from tests.docs import scenes
from tests.docs.shell import Session


def schema(name: str) -> Any:
    return jsonschema_rs.validator_for(json.loads((shapes.OUT / shapes.file_of(name)).read_text("utf-8")))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of other runs and another form of suite than the schema was made from."""
    session = Session(tmp_path_factory.mktemp("shop"))
    scenes.shop(session)
    found: dict[str, Any] = json.loads(session.output("toolselect score traces.jsonl --suite shop.jsonl --format json"))
    return found


def test_reports(report: dict[str, Any]) -> None:
    schema("toolselect.report/1").validate(report)


@pytest.mark.parametrize("member", ["summary", "confusion", "runs"])
def test_a_report_without_a_member_is_none(report: dict[str, Any], member: str) -> None:
    assert not schema("toolselect.report/1").is_valid({k: v for k, v in report.items() if k != member})
    assert not schema("toolselect.report/1").is_valid(report | {member: "text"})
    assert not schema("toolselect.report/1").is_valid(report | {"schema": "toolselect.report/2"})


def test_what_else_is_printed() -> None:
    found = outputs.documents(("gate", "flips", "confusion", "doctor"))
    for documents in found.values():
        for document in documents:
            schema(document["schema"]).validate(document)


def test_every_schema_is_one() -> None:
    files: list[Path] = sorted(shapes.OUT.glob("*.json"))
    assert len(files) > 10
    for path in files:
        jsonschema_rs.meta.validate(json.loads(path.read_text("utf-8")))
