"""The first page where something changed, fires, is new: what the traffic of the other tests does not show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.app.browse.figure_models import Arrived, Change, Overview
from otel_toolselect.app.browse.state_models import AlertRow
from otel_toolselect.model.monitoring import AlertStatus
from otel_toolselect.stats.rates import rate
from otel_toolselect.web.pages import overview as page
from tests.web.conftest import Client, PagesOf
from tests.web.test_api import TENANT_TOKENS, bearer


def test_against_the_window_before(client: Client) -> None:
    """Two libraries sent in the last five hours, another one in the five before."""
    text = client.get("/?since=5h").text
    assert "points" in text
    assert "none in the window before" not in text


def test_what_changed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = page.overview
    worse = Change("model", "m-2", "accuracy", rate(70, 100), rate(90, 100), 0.0007, "model=m-2")
    gone = Change("agent", "", "accuracy", rate(0, 0), rate(3, 4), None, "agent=x")
    firing = AlertStatus(
        "wrong-tool", (("agent", "shop"),), "firing", since_ns=1, shown="12.0 % (12/100)", says="above"
    )

    def changed(*asked: object) -> Overview:
        return replace(
            found(*asked),  # type: ignore[arg-type]
            changes=(worse, gone),
            arrived=(Arrived("called", "wipe_disk", 3, "called=wipe_disk"),),
            firing=(AlertRow(firing, "s-1"),),
        )

    monkeypatch.setattr(page, "overview", changed)
    text = client.get("/").text
    for said in ("down by", "20.0 points", "from 90.0 % (100)", "p 0.0007", "70/100"):
        assert said in text
    assert 'href="/runs?model=m-2"' in text
    assert "wipe_disk" in text
    assert "12.0 % (12/100)" in text
    assert "silenced" in text


def test_nothing_in_the_window(client: Client) -> None:
    text = client.get("/?since=2020-01-01&until=2020-01-02").text
    assert "No judged runs in this window" in text
    assert "toolselect replay" in text


def test_a_tenant_is_not_told_how_the_program_is(client: Client, pages_of: PagesOf) -> None:
    assert "How the program is" in client.get("/").text
    of_acme = pages_of(tokens=TENANT_TOKENS).get("/", headers=bearer("acme-0123456789"))
    assert of_acme.status_code == 200
    assert "How the program is" not in of_acme.text
