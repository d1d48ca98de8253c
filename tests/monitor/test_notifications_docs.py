"""docs/notifications.md says what is so; and `monitor notify-test`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.app.exporting import ExportCollector
from otel_toolselect.cli import main
from otel_toolselect.config import load
from otel_toolselect.export.events import event_of
from otel_toolselect.export.follower import Follower
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import LAYERS, Cell
from otel_toolselect.monitor import notifiers
from otel_toolselect.monitor.notifiers._texts import document
from otel_toolselect.store import Kept, Store
from tests.monitor.receiving import FIRE, Endpoint, endpoint

PAGE = (Path(__file__).parents[2] / "docs" / "notifications.md").read_text("utf-8")
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def hook() -> Iterator[Endpoint]:
    with endpoint() as made:
        yield made


def test_the_settings_are_settings_and_make_notifiers(tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("json://localhost\nmailto://user:pass@example.com\n")
    text = "\n".join(blocks("toml")).replace("/run/secrets/apprise", str(tmp_path / "urls"))
    (tmp_path / "t.toml").write_text(text)
    settings = load(env={"TOOLSELECT_CONFIG": str(tmp_path / "t.toml")})
    made = [notifiers.make(target, {"HOOK_SECRET": "s"}) for target in settings.monitor.notify]
    assert [notifier.name for notifier in made] == ["alertmanager", "on-call", "chat"]
    assert settings.export.on


def test_every_kind_has_its_row_and_all_its_options() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE.partition("## Kinds")[2], re.MULTILINE))
    kinds = notifiers.kinds()
    assert sorted(rows) == sorted(kinds)
    for name, row in rows.items():
        told = set(re.findall(r"`(\w+)(?: = true)?`", row))
        with pytest.raises(notifiers.UsageError) as raised:
            kinds[name].make("t", {"url": "http://x", "urls": "json://x", "path": "x", "unsigned": True, "~": 1})
        known = re.search(r"known: (.*)", str(raised.value))
        listed = set(known[1].split(", ")) if known and known[1] else set()
        assert told == listed, name


def test_the_json_is_what_is_sent() -> None:
    (example,) = blocks("json")
    assert json.loads(example) == document(FIRE)


def test_the_code_verifies_what_is_sent(hook: Endpoint) -> None:
    (code,) = blocks("python")
    names: dict[str, Any] = {}
    exec(code, names)
    notifiers.make(notifiers.NotifyTarget("t", "webhook", options={"url": hook.url, "secret": "s"}), {}).send([FIRE])
    (got,) = hook.got
    assert names["verified"](got.headers, got.body, b"s")
    assert not names["verified"](got.headers, got.body + b" ", b"s")
    assert not names["verified"](got.headers, got.body, b"t")
    assert not names["verified"]({**got.headers, "webhook-timestamp": "1748736000"}, got.body, b"s")


def test_every_attribute_of_an_event_is_in_the_table() -> None:
    table = PAGE.partition("<!-- attributes -->")[2].partition("<!-- /attributes -->")[0]
    told = set(re.findall(r"`((?:gen_ai|toolselect)\.[\w.]+)`", table))
    full: dict[str, Any] = {field.name: "x" for field in fields(Decision)}
    full |= {"cells": (Cell("x", "y"),), "layers": dict.fromkeys(LAYERS, "pass"), "start_ns": 1, "status": "pass"}
    sent = {re.sub(r"layer\.\w+", "layer.NAME", name) for name in event_of(Kept(Decision(**full), 1), None).attributes}
    assert told == sent


def test_every_metric_of_the_export_is_named(store: Store) -> None:
    names = {
        f"{family.name}_total"
        for family in ExportCollector(Follower(store, sender=None)).collect()  # type: ignore[arg-type]
    }
    assert names == set(re.findall(r"`(toolselect_export_\w+)`", PAGE))


def tried(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["monitor", "notify-test", *args])
    return int(ended.value.code or 0)


def test_notify_test_says_what_came_back(
    hook: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.toml").write_text(
        f'[[monitor.notify]]\nname = "one"\ntype = "webhook"\nunsigned = true\nurl = "{hook.url}"\n'
        '[[monitor.notify]]\nname = "two"\ntype = "file"\npath = "told.jsonl"\nseverity = ["critical"]\n'
    )
    monkeypatch.setenv("TOOLSELECT_CONFIG", str(tmp_path / "t.toml"))
    monkeypatch.chdir(tmp_path)
    assert tried() == 0
    assert re.search(r"one\s+webhook: taken", capsys.readouterr().out)
    assert json.loads(hook.got[0].body)["alert"] == "toolselect-test"
    assert json.loads((tmp_path / "told.jsonl").read_text())["severity"] == "info"
    hook.answers = [(503, {}), (404, {})]
    assert tried("one", "--format", "json") == 4
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["arrived"], row["retryable"]) == ("one", False, True)
    assert tried("one") == 4
    assert "answers 404; look at its url" in capsys.readouterr().out
    assert tried("three") == 2
    assert "there are: one, two" in capsys.readouterr().err
