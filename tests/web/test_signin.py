"""Signing in with a token, what a session is worth, and when it ends."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from otel_toolselect.config import Settings, Web
from otel_toolselect.store import Store
from otel_toolselect.web.signin.routes import local
from tests.web.conftest import Client, PagesOf

TOKENS = """
[[token]]
name = "ann"
token = "ann-0123456789"
scopes = ["read", "label", "admin"]

[[token]]
name = "eve"
token = "eve-0123456789"
scopes = ["read"]

[[token]]
name = "agent"
token = "agent-0123456789"
"""
ANN, EVE, AGENT = "ann-0123456789", "eve-0123456789", "agent-0123456789"


@pytest.fixture
def guarded(pages_of: PagesOf) -> Client:
    return pages_of(tokens=TOKENS)


def sign_in(client: Client, token: str, goes_to: str = "") -> int:
    answer = client.submit("/sign-in", {"token": token, "next": goes_to})
    return int(answer.status_code)


def test_a_stranger_is_sent_to_sign_in_and_back(guarded: Client) -> None:
    answer = guarded.get("/audit?actor=eve")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Faudit%3Factor%3Deve")
    shown = guarded.get(answer.headers["location"])
    assert shown.status_code == 200
    back = guarded.submit("/sign-in", {"token": ANN, "next": "/audit?actor=eve"})
    assert (back.status_code, back.headers["location"]) == (303, "/audit?actor=eve")
    assert guarded.get("/audit").status_code == 200


def test_the_cookie_says_nothing_and_is_guarded(guarded: Client) -> None:
    answer = guarded.submit("/sign-in", {"token": ANN})
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("toolselect-session=")]
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert ANN not in cookie


def test_over_tls_the_cookie_is_secure(pages_of: PagesOf) -> None:
    client = pages_of(tokens=TOKENS, tls=True, base_url="https://localhost")
    answer = client.submit("/sign-in", {"token": ANN})
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("__Host-toolselect-session=")]
    assert "Secure" in cookie
    assert answer.headers["strict-transport-security"]


@pytest.mark.parametrize(("token", "status", "says"), [("no-such-token", 401, "no token"), (AGENT, 403, "scope read")])
def test_who_may_not_read_does_not_get_in(guarded: Client, token: str, status: int, says: str) -> None:
    answer = guarded.submit("/sign-in", {"token": token})
    assert answer.status_code == status
    assert says in answer.text
    assert guarded.get("/").status_code == 303


def test_roles(guarded: Client) -> None:
    assert sign_in(guarded, EVE) == 303
    shown = guarded.get("/")
    assert "eve" in shown.text
    assert "viewer" in shown.text
    assert 'href="/audit' not in shown.text
    refused = guarded.get("/audit")
    assert refused.status_code == 403
    assert "needs the scope admin, which eve does not have" in refused.text


def test_a_removed_token_ends_its_sessions(guarded: Client, tmp_path: Path) -> None:
    assert sign_in(guarded, ANN) == 303
    assert guarded.get("/audit").status_code == 200
    (tmp_path / "tokens.toml").write_text(TOKENS.replace('"ann"', '"bob"'), "utf-8")
    assert guarded.get("/").status_code == 303


def test_a_new_token_of_the_same_name_ends_them_too(guarded: Client, tmp_path: Path) -> None:
    assert sign_in(guarded, ANN) == 303
    (tmp_path / "tokens.toml").write_text(TOKENS.replace(ANN, "ann-9876543210"), "utf-8")
    assert guarded.get("/").status_code == 303


def test_scopes_count_as_they_are_now(guarded: Client, tmp_path: Path) -> None:
    assert sign_in(guarded, ANN) == 303
    (tmp_path / "tokens.toml").write_text(TOKENS.replace('["read", "label", "admin"]', '["read"]'), "utf-8")
    assert guarded.get("/").status_code == 200
    assert guarded.get("/audit").status_code == 403


def test_who_signed_out_is_out_with_every_copy_of_the_cookie(guarded: Client) -> None:
    assert sign_in(guarded, ANN) == 303
    copy = guarded.cookies["toolselect-session"]
    assert guarded.submit("/sign-out").status_code == 303
    assert guarded.get("/").status_code == 303
    guarded.cookies.set("toolselect-session", copy, domain="localhost.local", path="/")
    assert guarded.get("/").status_code == 303


def test_a_session_ends_in_time(pages_of: PagesOf) -> None:
    client = pages_of(tokens=TOKENS, settings=replace(Settings(), web=Web(session_hours=1e-9)))
    assert sign_in(client, ANN) == 303
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("cookie", ["", "x", "eyJrIjoidG9rZW4ifQ.aaaa.bbbb", "é", "{}" * 2000])
def test_a_made_up_cookie_is_nobody(guarded: Client, cookie: str) -> None:
    answer = guarded.get("/", headers={"cookie": f"toolselect-session={cookie}".encode("latin-1", "replace")})
    assert answer.status_code == 303


def test_guessing_is_slowed_down(guarded: Client) -> None:
    assert [sign_in(guarded, f"guess-{i}") for i in range(5)] == [401] * 5
    answer = guarded.submit("/sign-in", {"token": ANN})
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1


def test_guessing_bearer_tokens_is_slowed_down_and_the_right_one_is_not(guarded: Client) -> None:
    def asked(token: str) -> int:
        return int(guarded.get("/api/v1/whoami", headers={"authorization": f"Bearer {token}"}).status_code)

    assert [asked(f"guess-{i}") for i in range(5)] == [401] * 5
    assert asked("guess-5") == 429
    assert asked(ANN) == 200


def test_sign_ins_are_in_the_audit_log(guarded: Client, store: Store) -> None:
    sign_in(guarded, "no-such-token")
    sign_in(guarded, ANN)
    guarded.submit("/sign-out")
    found = store.audit.read(tenant=None, limit=3).entries
    assert [(e.actor, e.action, e.via) for e in found] == [
        ("ann", "sign-out", "session"),
        ("ann", "sign-in", "session"),
        ("somebody", "sign-in refused", ""),
    ]
    assert found[1].address == "testclient"


@pytest.mark.parametrize(
    ("asked", "goes"),
    [
        ("/runs?a=b", "/runs?a=b"),
        ("", "/"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/\tx", "/"),
        ("/sign-in", "/"),
    ],
)
def test_nobody_is_sent_elsewhere(asked: str, goes: str) -> None:
    assert local(asked) == goes


def test_a_link_elsewhere_reaches_a_session_that_is_strict(guarded: Client) -> None:
    """The browser leaves the cookie out when the reader comes from another site, and sends it when the page loads
    itself.
    """
    answer = guarded.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})
    assert answer.status_code == 200
    assert re.search(r'http-equiv="refresh" content="0"', answer.text)
    assert guarded.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 303
