"""Pages on the port of a real `serve`, beside OTLP."""

from __future__ import annotations

import stat
from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest

from otel_toolselect.app.serving import serving
from otel_toolselect.cli._serving import served
from otel_toolselect.config import load
from otel_toolselect.web.mounting import pages
from otel_toolselect.web.signin.keys import FILE_NAME
from tests.cli._spans import agent_trace
from tests.web.conftest import csrf_of

TOKEN = "a-token-of-tests-0123456789"
TRACE = agent_trace(1, "refund A-1", "Done.", ("refund", {"id": "A-1"}, {"ok": True}))


def post(http: str, **headers: str) -> int:
    sent = {"content-type": "application/json", **headers}
    return httpx.post(f"{http}/v1/traces", content=TRACE, headers=sent, timeout=60).status_code


def test_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text("rules: r\ncases:\n  - {id: few, expect: {budget: {calls: 3}}}\n", "utf-8")
    monkeypatch.setenv("TOOLSELECT_LIVE_RULES", "rules.yaml")
    with served(f"chdb://{tmp_path}/store") as facts:
        http = facts["http"]
        assert facts["pages"] == f"{http}/"
        first = httpx.get(facts["pages"], timeout=60)
        assert first.status_code == 200
        assert "Live judging" in first.text
        assert "Takes what comes" in first.text
        assert httpx.get(facts["pages"], headers={"host": "evil.example"}).status_code == 403
        assert post(http) == 200
        assert httpx.get(f"{http}/metrics").status_code == 200
        assert httpx.get(f"{http}/healthz").json() == {"status": "ok"}
        key = Path(facts["spool"]) / FILE_NAME
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_with_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLSELECT_TOKEN", TOKEN)
    with served(f"chdb://{tmp_path}/store") as facts:
        http = facts["http"]
        assert httpx.get(f"{http}/runs").headers["location"] == "/sign-in?next=%2Fruns"
        assert post(http) == 401
        known = {"authorization": f"Bearer {TOKEN}"}
        assert post(http, **known) == 200
        me = httpx.get(f"{http}/api/v1/whoami", headers=known).json()
        assert (me["name"], me["role"], me["via"]) == ("TOOLSELECT_TOKEN", "admin", "bearer")
        with httpx.Client(base_url=http, headers={"x-forwarded-for": "203.0.113.9"}, timeout=60) as behind_a_proxy:
            form = {"csrf": csrf_of(behind_a_proxy.get("/sign-in").text), "token": "no-such-token"}
            assert behind_a_proxy.post("/sign-in", data=form).status_code == 401
        (entry,) = httpx.get(f"{http}/api/v1/audit", headers=known, timeout=60).json()["rows"]
        assert (entry["action"], entry["address"]) == ("sign-in refused", "203.0.113.9")


def test_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSELECT_WEB_ON", "false")
    settings = load({"store": f"chdb://{tmp_path}/store", "grpc_port": 0, "http_port": 0})
    with serving(settings, lambda engine, folder: nullcontext(""), pages) as running:
        assert running.pages == ""
        assert httpx.get(f"{running.http}/").status_code == 404
        assert post(running.http) == 200
