"""The same path serves files and stored spans: what comes out of the store is what comes out of the files (design
section 3).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_toolselect import app
from otel_toolselect.otlp import files
from otel_toolselect.store import open_store
from tests.cli import _spans
from tests.dialects.captures import ALL, runs_of, signals


def test_every_capture_reads_the_same_through_the_store(tmp_path: Path) -> None:
    store = open_store(f"chdb://{tmp_path}/store")
    try:
        for scenario in ALL:
            store.insert(*signals(scenario))
        wanted = runs_of(tuple(s for c in ALL for s in signals(c)[0]), tuple(r for c in ALL for r in signals(c)[1]))
        assert app.runs_from_store(store) == wanted
    finally:
        store.close()


def test_an_evaluation_that_took_long_does_not_replace_what_was_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "suite: shop\nversion: 1\ncases: [{id: a, prompt: find it, expect: {first: [find]}}]\n", encoding="utf-8"
    )
    line = _spans.agent_trace(1, "find it", "done", ("find", {"q": 1}, "x"))
    (batch,) = files.read([write(tmp_path, line)])
    early = [span for span in batch.spans if span.parent_span_id == ""]
    store = open_store(f"chdb://{tmp_path}/store")
    judged = app.judged

    def meanwhile(*args: object) -> object:
        monkeypatch.setattr(app, "judged", judged)
        store.insert(batch.spans, [])
        app.evaluate(store, str(suite))
        return judged(*args)  # type: ignore[arg-type]

    try:
        store.insert(early, [])
        monkeypatch.setattr(app, "judged", meanwhile)
        app.evaluate(store, str(suite))
        assert [run.first_action for run in store.runs()] == ["find"]
        assert [v.first_action for v in store.verdicts("shop")] == ["find"]
        assert {d.first_action for d in store.decisions("shop")} == {"find"}
    finally:
        store.close()


def write(folder: Path, line: str) -> str:
    path = folder / "traces.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    return str(path)
