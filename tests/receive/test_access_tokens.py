"""The file of tokens: what it may say, whom it lets in, and what happens when it changes."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from pathlib import Path

import pytest

from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.receive.access import ANYBODY, Access
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.status import ForbiddenError, NotAllowedError, QuotaError, failure_of
from otel_toolselect.receive.tokens import Quota, read_tokens

A, B = "token-of-a-0123456789", "token-of-b-0123456789"
TWO = f"""
[[token]]
name = "team-a"
token = "{A}"
attributes = {{"toolselect.tenant" = "a"}}

[[token]]
name = "dashboards"
sha256 = "{hashlib.sha256(B.encode()).hexdigest()}"
scopes = ["read"]
"""


@pytest.fixture
def file(tmp_path: Path):
    path = tmp_path / "tokens.toml"

    def write(text: str) -> Path:
        path.write_text(text, "utf-8")
        path.chmod(0o600)
        return path

    return write


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_senders_have_name_attributes_and_scopes(file) -> None:
    access = Access(tokens=file(TWO))
    team = access.admit(f"Bearer {A}")
    assert (team.name, dict(team.attributes), team.scopes) == ("team-a", {"toolselect.tenant": "a"}, {"send"})
    assert access.admit(f"bearer  {B} ", scope="read").name == "dashboards"
    with pytest.raises(ForbiddenError):
        access.admit(f"Bearer {A}", scope="read")
    with pytest.raises(ForbiddenError):
        access.admit(f"Bearer {B}")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", f"Basic {A}", A, "Bearer x", f"Bearer {A}x", "Bearer \udcff", "Bearer é"]
)
def test_nobody_else_comes_in(file, header) -> None:
    access = Access("single", tokens=file(TWO))
    with pytest.raises(NotAllowedError) as caught:
        access.admit(header, ("someone.example",))
    assert A not in str(caught.value)


def test_the_single_token_opens_everything_beside_a_file(file) -> None:
    access = Access("single", tokens=file(TWO))
    assert access.admit("Bearer single") == access.admit("Bearer single", scope="read") == ANYBODY
    assert access.admit(f"Bearer {A}").name == "team-a"


def test_every_entry_is_compared(file, monkeypatch) -> None:
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: (compared.append(a), a == b)[1])
    access = Access("single", tokens=file(TWO))
    for header in ("Bearer single", f"Bearer {B}", "Bearer none"):
        compared.clear()
        with contextlib.suppress(NotAllowedError):
            access.admit(header, scope="read")
        assert len(compared) == 3
        assert all(len(a) == 32 for a in compared)  # digests: lengths of tokens do not show either


def test_certificates_name_senders(file) -> None:
    text = f"""
[[token]]
name = "by-certificate"
certificate = "agents.a.example"
[[token]]
name = "both"
token = "{A}"
certificate = "agents.b.example"
"""
    access = Access(tokens=file(text), certificates=True)
    assert access.admit(None, ("x", "agents.a.example")).name == "by-certificate"
    assert access.admit(f"Bearer {A}", ("agents.b.example",)).name == "both"
    for header, names in (
        (None, ("agents.b.example",)),
        (f"Bearer {A}", ("agents.a.example",)),
        (f"Bearer {A}", ()),
        ("Bearer wrong", ("agents.a.example",)),  # a wrong token is no reason to fall back on something else
        (None, ()),
    ):
        with pytest.raises(NotAllowedError):
            access.admit(header, names)


def test_without_tokens_a_verified_certificate_may_send_but_not_read() -> None:
    access = Access(certificates=True)
    assert access.admit(None, ("agents.a.example", "dns")).name == "agents.a.example"
    with pytest.raises(ForbiddenError):
        access.admit(None, ("agents.a.example",), "read")
    with pytest.raises(NotAllowedError):
        access.admit(None)


@pytest.mark.parametrize("how", ["in place", "by another file"])
def test_a_changed_file_counts_at_once(file, how) -> None:
    path = file(TWO)
    access = Access(tokens=path)
    assert access.admit(f"Bearer {A}")
    changed = TWO.replace(A, A[::-1])  # of the same size
    if how == "in place":
        path.write_text(changed, "utf-8")
    else:
        (path.parent / "new").write_text(changed, "utf-8")
        (path.parent / "new").replace(path)
    assert access.admit(f"Bearer {A[::-1]}").name == "team-a"
    with pytest.raises(NotAllowedError):
        access.admit(f"Bearer {A}")


@pytest.mark.parametrize("broken", ["", "[[token]]\nname = ", "[[token]]\nname = 'x'", None])
def test_a_broken_file_leaves_the_last_good_one(file, caplog, broken) -> None:
    path = file(TWO)
    counters = Counters()
    access = Access(tokens=path, counters=counters)
    if broken is None:
        path.unlink()
    else:
        path.write_text(broken, "utf-8")
    for _ in range(3):
        assert access.admit(f"Bearer {A}").name == "team-a"
    errors = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert len(errors) == 1
    assert str(path) in errors[0].getMessage()
    assert A not in caplog.text
    assert counters.snapshot()["reload_failures"] == 1
    file(TWO.replace("team-a", "team-z"))
    assert access.admit(f"Bearer {A}").name == "team-z"


def test_a_file_for_everybody_to_read_is_told(file, caplog) -> None:
    path = file(TWO)
    read_tokens(path)
    assert not caplog.records
    path.chmod(0o644)
    read_tokens(path)
    assert f"chmod 600 {path}" in caplog.text


MISTAKES = {
    'x = 1\n[[token]]\nname = "a"\ntoken = "t"': "unknown key x",
    'token = "t"': "[[token]] table",
    '[[token]]\nname = "a"': ":1: token[0]: token, sha256 or certificate is missing",
    '[[token]]\ntoken = "t"': ":1: token[0]: name is missing",
    '[[token]]\nname = "a"\ntoken = "t"\n\n[[token]]\nname = "b"\ntoken = 7': ":7: token[1].token: must be",
    '[[token]]\nname = "a"\ntoken = "t\\u00e9"': ":3: token[0].token: must be",
    '[[token]]\nname = "a\\n"\ntoken = "t"': ":2: token[0].name: must be",
    '[[token]]\nname = "a"\nsha256 = "abc"': ":3: token[0].sha256: must be 64 hex digits",
    '[[token]]\nname = "a"\ntoken = "t"\nscopes = ["all"]': ":4: token[0].scopes: must be a list of send, read,",
    '[[token]]\nname = "a"\ntoken = "t"\nscope = ["read"]': ":4: token[0].scope: unknown",
    '[[token]]\nname = "a"\ntoken = "t"\nattributes = {a.b = "c"}': ":4: token[0].attributes: must be a table of texts",
    '[[token]]\nname = "a"\ntoken = "t"\nspans_per_second = 0': ":4: token[0].spans_per_second: must be a number",
    '[[token]]\nname = "a"\ntoken = "t"\nsha256 = "' + "0" * 64 + '"': "token says the same",
    '[[token]]\nname = "a"\ntoken = "t"\n[[token]]\nname = "a"\ntoken = "u"': ":5: token[1].name: the same as",
    '[[token]]\nname = "a"\ntoken = "t"\n[[token]]\nname = "b"\ntoken = "t"': "token[1].token: the same as of token[0]",
    "[[token]]\nname = a": "line 2",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_named_by_file_line_and_field(file, text) -> None:
    path = file(text)
    with pytest.raises(InputError) as caught:
        Access(tokens=path)
    assert str(path) in str(caught.value)
    assert MISTAKES[text] in str(caught.value)


def test_all_mistakes_are_told(file) -> None:
    with pytest.raises(InputError) as caught:
        read_tokens(file('[[token]]\nname = 1\ntoken = 2\nfoo = 3\n[[token]]\nname = "b"'))
    assert len(str(caught.value).splitlines()) == 4


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(InputError, match="No such file"):
        Access(tokens=tmp_path / "none.toml")


QUOTAS = f"""
[[token]]
name = "small"
token = "{A}"
spans_per_second = 10
burst_seconds = 2
[[token]]
name = "bytes"
token = "{B}"
bytes_per_second = 1000
burst_seconds = 1
"""


def test_a_quota_is_paid_back_by_waiting(file) -> None:
    clock, counters = Clock(), Counters()
    access = Access(tokens=file(QUOTAS), counters=counters, clock=clock)
    small = access.admit(f"Bearer {A}")
    assert small.quota == Quota(spans_per_second=10, burst_seconds=2)
    access.allow(small)
    access.charge(small, spans=50, size=10**9)  # more than all that is allowed at once: it passes, and is a debt
    with pytest.raises(QuotaError) as caught:
        access.allow(small)
    failure = failure_of(caught.value)
    assert (failure.http_status, failure.retry_after_s, failure.reason) == (429, 3.0, "quota")
    assert counters.by_label().over_quota == {"small": 1}
    clock.now += 2.9
    with pytest.raises(QuotaError):
        access.allow(small)
    clock.now += 0.2
    access.allow(small)
    clock.now += 10**6  # and no more is saved up than the burst
    access.charge(small, spans=21)
    with pytest.raises(QuotaError):
        access.allow(small)


def test_over_a_long_time_no_more_than_the_rate_passes(file) -> None:
    clock = Clock()
    access = Access(tokens=file(QUOTAS), clock=clock)
    sender = access.admit(f"Bearer {B}")
    sent = 0
    for _ in range(1000):
        try:
            access.allow(sender)
        except QuotaError:
            pass
        else:
            sent += 300
            access.charge(sender, size=300)
        clock.now += 0.1
    assert 100_000 - 300 <= sent <= 101_000 + 300


def test_quotas_are_of_each_sender_and_outlive_a_rotation(file) -> None:
    clock = Clock()
    access = Access(tokens=file(QUOTAS), clock=clock)
    small, other = access.admit(f"Bearer {A}"), access.admit(f"Bearer {B}")
    access.charge(small, spans=100)
    access.allow(other)
    access.allow(ANYBODY)
    file(QUOTAS.replace(A, "another-token-012345"))
    with pytest.raises(QuotaError):
        access.allow(access.admit("Bearer another-token-012345"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "localhost", "::1", "[::1]", "::ffff:127.0.0.1"])
def test_loopback_may_go_without_anything(settings, host) -> None:
    settings(host=host).check()
    settings(host=host, bearer_token="t").check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "x", "localhost.example", "::ffff:10.0.0.1"])
def test_other_addresses_open_in_so_many_words_only(settings, tmp_path, host) -> None:
    pair = {"tls_cert": tmp_path / "c", "tls_key": tmp_path / "k"}
    for bad, told in (
        ({}, "bearer token"),
        ({"allow_plaintext": True}, "bearer token"),
        (pair, "bearer token"),
        ({"bearer_token": "t"}, "plain text"),
        ({"tokens": tmp_path / "t"}, "plain text"),
        ({"bearer_token": "t", "allow_unauthenticated": True}, "plain text"),
    ):
        with pytest.raises(UsageError, match=told):
            settings(host=host, **bad).check()
    for good in (
        {"allow_unauthenticated": True},
        {"bearer_token": "t", "allow_plaintext": True},
        {"bearer_token": "t"} | pair,
        {"tls_client_ca": tmp_path / "ca"} | pair,
    ):
        settings(host=host, **good).check()


def test_all_mistakes_of_the_settings_are_told(settings, tmp_path) -> None:
    with pytest.raises(UsageError) as caught:
        settings(host="0.0.0.0", tls_key=tmp_path / "k", tls_client_ca=tmp_path / "ca", max_request_bytes=2**30).check()
    assert [line.split()[0] for line in str(caught.value).splitlines()] == [
        "receive.tls_cert",
        "receive.tls_client_ca",
        "listening",
        "limits.in_flight_bytes",
    ]
