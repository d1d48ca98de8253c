"""Signing in with OpenID Connect, against a provider on loopback that may do everything wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from otel_toolselect.config import Oidc, Settings
from otel_toolselect.errors import UsageError
from otel_toolselect.store import Store
from otel_toolselect.web.signin.oidc import check
from tests.web import provider as providers
from tests.web.conftest import Client, PagesOf
from tests.web.provider import CLIENT, SECRET, Provider

ANN = {"sub": "u-1", "email": "ann@example.com", "email_verified": True, "groups": ["sre", "staff"]}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with providers.provider() as made:
        yield made


@pytest.fixture
def provider(running: Provider) -> Provider:
    """As it should be, until a test changes it."""
    fresh = Provider(running.issuer, claims=dict(ANN))
    running.__dict__.update(fresh.__dict__)
    return running


def settings_of(provider: Provider, **changes: Any) -> Settings:
    oidc = Oidc(
        issuer=provider.issuer,
        client_id=CLIENT,
        client_secret=SECRET,
        viewers=("*",),
        labellers=("reviewers",),
        admins=("sre",),
    )
    return Settings(oidc=replace(oidc, **changes))


@pytest.fixture
def client(provider: Provider, pages_of: PagesOf) -> Client:
    return pages_of(settings=settings_of(provider))


def to_provider(client: Client, path: str = "/sign-in/oidc") -> str:
    """The address that the browser is sent to."""
    answer = client.get(path)
    assert answer.status_code == 302
    return str(answer.headers["location"])


def way_back(address: str) -> str:
    """Where the provider sends the browser to: a path of ours."""
    back = urlsplit(httpx.get(address).headers["location"])
    assert back.netloc == "localhost"
    return f"{back.path}?{back.query}"


def sign_in(client: Client, path: str = "/sign-in/oidc") -> httpx.Response:
    return client.get(way_back(to_provider(client, path)))


def me(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/whoami").json()
    return found


def test_there_and_back(client: Client, store: Store) -> None:
    assert client.get("/runs?status=fail").headers["location"].startswith("/sign-in?next=")
    assert "/sign-in/oidc?next=%2Fruns%3Fstatus%3Dfail" in client.get("/sign-in?next=%2Fruns%3Fstatus%3Dfail").text
    answer = sign_in(client, "/sign-in/oidc?next=%2Fruns%3Fstatus%3Dfail")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?status=fail")
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("toolselect-session=")]
    assert {"HttpOnly", "SameSite=lax"} <= set(cookie.split("; "))
    assert me(client) == {
        "name": "ann@example.com",
        "role": "admin",
        "scopes": ["admin", "label", "read"],
        "via": "oidc",
        "tenant": None,
    }
    entry = store.audit.read(tenant=None, limit=1).entries[0]
    assert (entry.actor, entry.via, entry.action, entry.detail) == (
        "ann@example.com",
        "oidc",
        "sign-in",
        {"role": "admin"},
    )


def test_what_is_asked_for(client: Client, provider: Provider) -> None:
    asked = parse_qs(urlsplit(to_provider(client)).query)
    assert asked["scope"] == ["openid profile email"]
    assert asked["redirect_uri"] == ["http://localhost/sign-in/oidc/back"]
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    again = parse_qs(urlsplit(to_provider(client)).query)
    assert all(asked[name] != again[name] for name in ("state", "nonce", "code_challenge"))


@pytest.mark.parametrize(
    ("groups", "role"),
    [(["sre"], "admin"), (["reviewers", "staff"], "labeller"), ([], "viewer"), ("sre", "admin"), (None, "viewer")],
)
def test_roles(client: Client, provider: Provider, groups: Any, role: str) -> None:
    provider.claims["groups"] = groups
    assert sign_in(client).status_code == 303
    assert me(client)["role"] == role


def test_without_a_role_nobody_gets_in(provider: Provider, pages_of: PagesOf) -> None:
    provider.claims["groups"] = ["others"]
    client = pages_of(settings=settings_of(provider, viewers=("staff",)))
    answer = sign_in(client)
    assert (answer.status_code, "no role here" in answer.text) == (403, True)
    assert client.get("/").status_code == 303


def test_tenants(provider: Provider, pages_of: PagesOf) -> None:
    client = pages_of(settings=settings_of(provider, admins=(), tenants=("team-a=acme", "team-b=globex")))
    provider.claims["groups"] = ["team-a"]
    assert sign_in(client).status_code == 303
    assert (me(client)["tenant"], me(client)["role"]) == ("acme", "viewer")
    for groups in ([], ["team-a", "team-b"]):
        provider.claims["groups"] = groups
        assert sign_in(client).status_code == 403


def test_roles_follow_the_settings(client: Client, provider: Provider, pages_of: PagesOf) -> None:
    assert sign_in(client).status_code == 303
    cookie = client.cookies["toolselect-session"]
    other = pages_of(settings=settings_of(provider, admins=("others",)))
    other.cookies.set("toolselect-session", cookie)
    assert me(other)["role"] == "viewer"
    closed = pages_of(token="t" * 20)
    closed.cookies.set("toolselect-session", cookie)
    assert closed.get("/").status_code == 303


def test_what_only_userinfo_tells(client: Client, provider: Provider) -> None:
    provider.only_at_userinfo = ("groups",)
    assert sign_in(client).status_code == 303
    assert me(client)["role"] == "admin"


def test_userinfo_of_somebody_else_is_not_taken(client: Client, provider: Provider) -> None:
    provider.only_at_userinfo, provider.userinfo_sub = ("groups",), "u-2"
    assert sign_in(client).status_code == 303
    assert me(client)["role"] == "viewer"


def test_an_address_that_was_not_verified_is_no_name(client: Client, provider: Provider) -> None:
    provider.claims["email_verified"] = False
    assert sign_in(client).status_code == 303
    assert me(client)["name"] == "u-1"


@pytest.mark.parametrize(
    "changed",
    [
        {"nonce": "another"},
        {"iss": "https://evil.example"},
        {"aud": "another-client"},
        {"exp": 1_700_000_000, "iat": 1_699_999_000},
    ],
    ids=lambda changed: "-".join(changed),
)
def test_an_id_token_that_is_not_ours(client: Client, provider: Provider, changed: dict[str, Any]) -> None:
    provider.changed = changed
    answer = sign_in(client)
    assert answer.status_code == 401
    assert "begin again" in answer.text
    assert client.get("/").status_code == 303


def test_a_signature_of_another_key(client: Client, provider: Provider) -> None:
    provider.signs_with = providers.other_key()
    assert sign_in(client).status_code == 401


def test_a_refusal_of_the_provider(client: Client, provider: Provider, store: Store) -> None:
    provider.refuses = "access_denied"
    assert sign_in(client).status_code == 401
    assert store.audit.read(tenant=None, limit=1).entries[0].action == "sign-in refused"


def test_a_way_that_another_browser_began(client: Client, provider: Provider, pages_of: PagesOf) -> None:
    """Else somebody could sign a reader in as themselves, and see what the reader does."""
    path = way_back(to_provider(pages_of(settings=settings_of(provider))))
    assert client.get(path).status_code == 401
    to_provider(client)
    assert client.get(path).status_code == 401, "another state"


def test_a_code_works_once(client: Client, provider: Provider) -> None:
    path = way_back(to_provider(client))
    assert client.get(path).status_code == 303
    assert client.get(path).status_code == 401


def test_a_provider_that_is_away(provider: Provider, pages_of: PagesOf) -> None:
    client = pages_of(settings=settings_of(provider, issuer="http://127.0.0.1:9"))
    answer = client.get("/sign-in/oidc")
    assert (answer.status_code, "does not answer" in answer.text) == (503, True)


def test_a_provider_that_calls_itself_otherwise(provider: Provider, pages_of: PagesOf) -> None:
    client = pages_of(settings=settings_of(provider))
    real, provider.issuer = provider.issuer, "https://evil.example"
    assert client.get("/sign-in/oidc").status_code == 503
    provider.issuer = real
    assert client.get("/sign-in/oidc").status_code == 302


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"issuer": "http://login.example.com"}, "must be https"),
        ({"admins": ()}, "nobody has a role"),
        ({"tenants": ("team-a",)}, "is not VALUE=TENANT"),
    ],
)
def test_settings_that_cannot_work(changes: dict[str, Any], says: str) -> None:
    good = Oidc(issuer="https://login.example.com", client_id="x", admins=("sre",))
    check(good)
    with pytest.raises(UsageError, match=says):
        check(replace(good, **changes))
