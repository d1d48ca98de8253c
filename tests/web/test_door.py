"""What other sites cannot do in the name of a reader, and what an unknown caller gets: nothing."""

from __future__ import annotations

import pytest

from otel_toolselect.config import Settings, Web
from otel_toolselect.web.page import sections
from tests.web.conftest import Client, PagesOf, csrf_of
from tests.web.test_signin import ANN, EVE, TOKENS, sign_in


def test_another_name_for_this_machine_is_refused(client: Client) -> None:
    for host in ("evil.example", "evil.example:4318", "127.0.0.1.evil.example", "", "[::1", "[x]"):
        answer = client.get("/audit", headers={"host": host})
        assert answer.status_code == 403, host
        assert client.get("/api/v1/whoami", headers={"host": host}).status_code == 403
    for host in ("localhost:4318", "127.0.0.1:4318", "[::1]:4318", "127.8.8.8", "toolselect.localhost"):
        assert client.get("/audit", headers={"host": host}).status_code == 200, host


def test_the_public_name_is_a_name(pages_of: PagesOf) -> None:
    client = pages_of(settings=Settings(web=Web(public_url="https://tools.example.com/select")))
    assert client.get("/audit", headers={"host": "tools.example.com"}).status_code == 200
    assert 'href="/select/static/app.' in client.get("/audit", headers={"host": "tools.example.com"}).text


@pytest.fixture
def ann(pages_of: PagesOf) -> Client:
    client = pages_of(tokens=TOKENS)
    assert sign_in(client, ANN) == 303
    return client


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://[::1"},
        {"origin": "http://localhost:9999"},
    ],
)
def test_what_another_site_posts_is_refused(ann: Client, headers: dict[str, str]) -> None:
    answer = ann.submit("/sign-out", headers=headers)
    assert answer.status_code == 403
    assert ann.get("/audit").status_code == 200, "still signed in"


def test_what_has_no_token_of_the_form_is_refused(ann: Client) -> None:
    for data in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}):
        answer = ann.post("/sign-out", data=data)
        assert answer.status_code == 403, data
        assert "load the page again" in answer.text


def test_the_token_of_another_session_or_browser_is_refused(ann: Client, pages_of: PagesOf) -> None:
    other = pages_of(tokens=TOKENS)
    foreign = csrf_of(other.get("/sign-in").text)
    assert ann.post("/sign-out", data={"csrf": foreign}).status_code == 403
    assert sign_in(other, EVE) == 303
    foreign = csrf_of(other.get("/sign-in").text)
    assert ann.post("/sign-out", data={"csrf": foreign}).status_code == 403


def test_the_token_may_come_in_a_header(ann: Client) -> None:
    token = csrf_of(ann.get("/audit").text)
    same = {"x-csrf-token": token, "origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert ann.post("/sign-out", headers=same).status_code == 303


def test_also_where_nobody_signs_in_forms_are_our_own(client: Client) -> None:
    assert client.post("/sign-out").status_code == 403
    assert client.submit("/sign-out", headers={"origin": "https://evil.example"}).status_code == 403
    assert client.submit("/sign-out").status_code == 303


def test_no_page_is_read_unknown(pages_of: PagesOf) -> None:
    client = pages_of(tokens=TOKENS)
    for section in sections():
        for page in section.pages:
            answer = client.get(page.path.replace("{", "x").replace("}", "x"))
            assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/sign-in"), page.path
        for action in section.actions:
            token = csrf_of(client.get("/sign-in").text)
            path = action.path.replace("{", "x").replace("}", "x")
            assert client.post(path, data={"csrf": token}).status_code == 401, action.path
    assert client.get("/no/such/page").status_code == 303


def test_htmx_is_told_where_to_sign_in(pages_of: PagesOf) -> None:
    answer = pages_of(tokens=TOKENS).get("/", headers={"hx-request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/sign-in?next=%2F")


def test_bodies_are_bounded(client: Client) -> None:
    assert client.post("/sign-out", content=b"x" * (1 << 20)).status_code == 403
    assert client.post("/sign-out", content=b"x" * ((1 << 20) + 1)).status_code == 413
    many = "&".join(f"a{i}=1" for i in range(2_000))
    answer = client.post("/sign-out", content=many, headers={"content-type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 400


def test_unknown_pages_and_files(client: Client) -> None:
    answer = client.get("/no/such/page")
    assert (answer.status_code, "no such page" in answer.text) == (404, True)
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/app.000000000000.css").status_code == 404
    assert client.post("/", data={"csrf": csrf_of(client.get("/sign-in").text)}).status_code == 405


def test_files_are_kept_for_a_year_by_their_content(client: Client) -> None:
    text = client.get("/sign-in").text
    name = text.split('href="/static/app.')[1].split('"')[0]
    answer = client.get(f"/static/app.{name}")
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
