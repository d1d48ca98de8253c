from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.app.running import Ran, Wanted, run
from otel_toolselect.config import Settings
from otel_toolselect.suites.runner import Options, Playing

ROOT = Path(__file__).parents[3]
SUITE = """
suite: shop
version: 1
policy:
  tools:
    find_orders: {effect: read}
    refund_order: {effect: write, risk: high}
    get_invoice: {effect: read}
cases:
  - id: refund
    prompt: 'Refund A-1; it is "broken" $(id) {case_id}'
    tags: {bucket: core}
    expect: {first: [refund_order]}
  - {id: invoice, prompt: Show my invoice, tags: {bucket: core}, expect: {first: [get_invoice]}}
  - {id: hello, prompt: Hello, tags: {bucket: challenge}, expect: {class: none}}
"""
RIGHT: dict[str, list[dict[str, Any]]] = {
    "refund": [{"call": "refund_order"}],
    "invoice": [{"call": "get_invoice"}],
    "hello": [{"say": "Hello to you."}],
}
Script = Mapping[str, Sequence[Mapping[str, Any]]]


class Shop:
    """A suite, a scripted agent, and the runner on them within this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.suite = folder / "suite.yaml"
        self.suite.write_text(SUITE, "utf-8")
        self.log = folder / "log.jsonl"
        self.said: list[str] = []
        monkeypatch.setenv("AGENT_SCRIPT", str(folder / "script.json"))
        monkeypatch.setenv("AGENT_LOG", str(self.log))
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        self.script(RIGHT)

    def script(self, script: Script) -> None:
        (self.folder / "script.json").write_text(json.dumps({**RIGHT, **script}), "utf-8")

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def journal(self) -> dict[tuple[str, int], dict[str, Any]]:
        lines = (self.folder / "run" / "journal.jsonl").read_text("utf-8").splitlines()
        return {(record["case"], record["attempt"]): record for record in map(json.loads, lines)}

    def run(self, kind: str, where: str, *, playing: Playing | None = None, **wanted: Any) -> Ran:
        names = {"timeout_s", "env", "headers", "body", "python", "base_url", "key", "catalog", "system"}
        options = Options(where, **{k: wanted.pop(k) for k in list(wanted) if k in names})
        folder = self.folder / wanted.pop("to", "run")
        playing = playing or Playing(concurrency=1 if kind == "callable" else 4)  # a worker starts slowly
        asked = Wanted(str(self.suite), kind, options, folder=folder, playing=playing, **wanted)
        stop = threading.Event()
        settings = Settings(store=f"chdb://{self.folder}/store")
        return run(asked, settings, stop=stop, tell=self.said.append, progress=lambda *_: nullcontext(lambda: None))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in os.environ:
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    return Shop(tmp_path, monkeypatch)


def by_case(ran: Ran) -> dict[tuple[str, int | None], Any]:
    return {(verdict.case_id, verdict.attempt): verdict for verdict in ran.done.report.runs}
