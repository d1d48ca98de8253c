"""Labelling: two runs by keyboard, two labellers who disagree, what an outsider may not do."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from playwright.sync_api import Page, expect

from otel_toolselect.model.runs import Run
from otel_toolselect.store import Store
from tests.web.conftest import Client, PagesOf, fits


def today(runs: list[Run]) -> str:
    """The day of the example agent's runs."""
    latest = max(run.start_ns for run in runs if run.agent == "billing-support")
    return datetime.fromtimestamp(latest // 10**9, UTC).date().isoformat()


def test_two_runs_by_keyboard(
    page: Page, axe: Callable[[Page], None], shots: Callable[[str], None], runs: list[Run], store: Store
) -> None:
    page.goto(f"/labels?day={today(runs)}&by=ann")
    axe(page)
    shots("labels")
    page.get_by_role("link", name="Start labelling").click()
    labelled = []
    for number in range(2):
        expect(page.get_by_role("heading", name="What should it have done first?")).to_be_visible()
        if not number:
            axe(page)
            shots("label")
        labelled.append(page.url.split("/labels/")[1].split("?")[0])
        page.keyboard.press("4")
        page.keyboard.press("n")
        page.keyboard.type(f"note {number}")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: labelled[-1] not in url)
        expect(page.get_by_role("status")).to_contain_text("Kept:")
    kept = {label.run_id: label for label in store.labels.of_runs(labelled)}
    assert [kept[run_id].note for run_id in labelled] == ["note 0", "note 1"]
    assert {label.labeller for label in kept.values()} == {"ann"}
    page.goto(f"/labels/{labelled[0]}?day={today(runs)}&by=ann")
    assert page.locator("input[name=expected]:checked").get_attribute("data-key") == "4"
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status")).to_contain_text("taken back")
    assert store.labels.of_runs(labelled[:1]) == ()
    assert fits(page)


def test_a_run_that_failed_is_labelled_without_its_verdict(client: Client) -> None:
    """Failures come first in the queue: each has its page, which does not say what was found."""
    failed = client.get("/api/v1/runs?since=&status=fail&size=200").json()["rows"]
    assert len(failed) > 10
    for row in failed:
        answer = client.get(f"/labels/{row['run_id']}?by=ann")
        assert answer.status_code == 200, row["request"]
        assert "What should it have done first?" in answer.text
        assert "unexpected call" not in answer.text


def test_two_labellers_and_their_disagreement(client: Client, runs: list[Run]) -> None:
    run = next(run for run in runs if run.agent == "billing-support" and run.calls)
    address = f"/labels/{run.run_id}?by="
    first = {"expected": run.first_action, "note": "ann's reason"}
    assert client.submit(f"{address}ann", first, of=f"{address}ann").status_code == 303
    blind = client.get(f"{address}raj").text
    assert "ann&#39;s reason" not in blind
    assert "is shown once you have said something" in blind
    assert client.submit(f"{address}raj", {"do": "wrong"}, of=f"{address}raj").status_code == 303
    assert "ann&#39;s reason" in client.get(f"{address}raj").text
    disagreements = client.get("/labels/disagreements?since=24h").text
    assert run.run_id in disagreements
    assert f"not {run.first_action}" in disagreements
    assert client.get(f"/runs/{run.run_id}").text.count("by ann") == 1


def test_what_is_wrong_is_said(client: Client, runs: list[Run]) -> None:
    address = f"/labels/{runs[0].run_id}?by=ann"
    nothing = client.submit(address, {}, of=address)
    assert nothing.status_code == 400
    assert "Choose what was right" in nothing.text
    strange = client.submit(address, {"expected": "no_such_tool"}, of=address)
    assert strange.status_code == 400
    assert client.post(address, data={"expected": "none"}).status_code == 403
    assert client.get("/labels/nothing").status_code == 404
    assert client.get("/labels?day=soon").status_code == 400


TOKENS = """
[[token]]
name = "viewer"
token = "v"
scopes = ["read"]

[[token]]
name = "lea"
token = "l"
scopes = ["read", "label"]
attributes = {"toolselect.tenant" = "acme"}
"""


def test_who_may_label_what(pages_of: PagesOf, runs: list[Run], store: Store) -> None:
    client = pages_of(tokens=TOKENS)
    viewer, lea = ({"authorization": f"Bearer {token}"} for token in "vl")
    assert client.get("/labels", headers=viewer).status_code == 403
    foreign = next(run for run in runs if run.agent == "billing-support")
    assert client.get(f"/labels/{foreign.run_id}", headers=lea).status_code == 404
    assert client.post(f"/labels/{foreign.run_id}", data={"expected": "none"}, headers=lea).status_code in (403, 404)
    assert not [x for x in store.labels.of_runs([foreign.run_id]) if x.labeller == "lea"]
    shown = client.get("/labels?by=somebody-else", headers=lea).text
    assert "somebody-else" not in shown


def test_labels_are_in_the_audit_log(client: Client, runs: list[Run]) -> None:
    address = f"/labels/{runs[1].run_id}?by=zoe"
    client.submit(address, {"expected": "none"}, of=address)
    found = client.get(f"/api/v1/audit?since=1h&action=label&now={time.time_ns()}").json()
    (entry,) = [row for row in found["rows"] if row["detail"].get("labeller") == "zoe"]
    assert entry["subject"] == runs[1].run_id
    assert f'href="/runs/{runs[1].run_id}"' in client.get("/audit?since=1h&action=label").text
