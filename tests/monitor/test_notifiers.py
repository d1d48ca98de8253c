"""Every notifier against a real receiver on loopback: what arrives, and what a failure says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.config import NotifyTarget
from otel_toolselect.errors import NotifyError, UsageError
from otel_toolselect.monitor import notifiers
from otel_toolselect.monitor.notifiers import Notifier, Refreshing
from otel_toolselect.monitor.notifiers._texts import document, message, title
from tests.monitor.receiving import FIRE, RESOLVE, Endpoint, endpoint

# Apprise imports `imghdr`, which Python 3.13 no longer has; it knows
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
SECRET = "k3y-of-the-hook"


@pytest.fixture
def hook() -> Iterator[Endpoint]:
    with endpoint() as made:
        yield made


def made(kind: str, env: Mapping[str, str] | None = None, **options: Any) -> Notifier:
    return notifiers.make(NotifyTarget("t", kind, options=options), env or {})


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def failed(notifier: Notifier, *told: Any) -> NotifyError:
    with pytest.raises(NotifyError) as raised:
        notifier.send(told or [FIRE])
    text = str(raised.value)
    for secret in (SECRET, "search", "T0KEN", "payments"):
        assert secret not in text
    return raised.value


# webhook


def test_a_webhook_is_signed_and_can_be_verified_by_hand(hook: Endpoint) -> None:
    made("webhook", {"S": SECRET}, url=f"{hook.url}/x?T0KEN", secret={"env": "S"}).send([FIRE, RESOLVE])
    first, second = hook.got
    assert first.path == "/x?T0KEN"
    assert first.headers["content-type"] == "application/json"
    stamp = first.headers["webhook-timestamp"]
    assert abs(int(stamp) - datetime.now(UTC).timestamp()) < 300
    signed = f"{first.headers['webhook-id']}.{stamp}.".encode() + first.body
    expected = base64.b64encode(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()).decode()
    assert first.headers["webhook-signature"] == f"v1,{expected}"
    assert first.headers["webhook-id"] == first.headers["idempotency-key"]
    assert first.headers["webhook-id"] != second.headers["webhook-id"]
    assert "." not in first.headers["webhook-id"]
    told = json.loads(first.body)
    assert told["schema"] == "toolselect.notification/1"
    assert told["key"] == FIRE.key
    assert (told["kind"], told["value"], told["numerator"], told["n"]) == ("fire", 0.15, 3, 20)
    assert told["shown"] == "15.0 % (3/20)"


def test_the_signature_is_that_of_the_standard_and_two_secrets_sign_while_one_is_exchanged(hook: Endpoint) -> None:
    # the example of the specification of Standard Webhooks
    from otel_toolselect.monitor.notifiers.webhook import signature

    body = b'{"test": 2432232314}'
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    told = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert told == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    made("webhook", secret=["old", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], url=hook.url).send([FIRE])
    assert len(hook.got[0].headers["webhook-signature"].split()) == 2


def test_a_long_key_is_sent_as_its_digest_and_in_full_in_the_body(hook: Endpoint) -> None:
    long = replace(FIRE, key="über.lang" * 50)
    made("webhook", url=hook.url, unsigned=True, headers={"X-Team": "shop"}).send([long])
    (got,) = hook.got
    assert got.headers["idempotency-key"] == hashlib.sha256(long.key.encode()).hexdigest()
    assert json.loads(got.body)["key"] == long.key
    assert got.headers["x-team"] == "shop"
    assert "webhook-signature" not in got.headers


def test_what_was_taken_before_a_failure_is_told(hook: Endpoint) -> None:
    hook.answers = [(200, {}), (503, {"retry-after": "7"})]
    error = failed(made("webhook", url=hook.url, secret=SECRET), FIRE, RESOLVE)
    assert error.delivered == {FIRE.key}
    assert (error.retryable, error.retry_after_s) == (True, 7.0)


# errors, decided in one place


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_these_statuses_may_pass(hook: Endpoint, status: int) -> None:
    hook.answers = [(status, {})]
    error = failed(made("webhook", url=f"{hook.url}/T0KEN", secret=SECRET))
    assert error.retryable
    assert str(status) in str(error)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 410, 413, 422])
def test_these_statuses_stay(hook: Endpoint, status: int) -> None:
    hook.answers = [(status, {"location": f"{hook.url}/else", "retry-after": "9"})]
    error = failed(made("webhook", url=f"{hook.url}/T0KEN", secret=SECRET))
    assert not error.retryable
    assert error.retry_after_s is None
    assert len(hook.got) == 1


def test_a_date_to_come_back_at_is_understood_and_nonsense_is_not(hook: Endpoint) -> None:
    later = format_datetime(datetime.fromtimestamp(datetime.now(UTC).timestamp() + 90, UTC), usegmt=True)
    hook.answers = [(429, {"retry-after": later}), (429, {"retry-after": "soon"}), (429, {"retry-after": "-3"})]
    notifier = made("webhook", url=hook.url, secret=SECRET)
    waits = [failed(notifier).retry_after_s for _ in range(3)]
    assert waits[0] is not None
    assert 60 < waits[0] <= 90
    assert waits[1:] == [None, None]


@pytest.mark.parametrize("how", ["hang", "drip"])
def test_no_answer_or_one_that_never_ends_takes_bounded_time(hook: Endpoint, how: str) -> None:
    setattr(hook, how, True)
    error = failed(made("webhook", url=hook.url, secret=SECRET, timeout=0.3))
    assert error.retryable
    assert "0.3 s" in str(error)


def test_a_receiver_that_is_not_there_may_come() -> None:
    error = failed(made("webhook", url=f"http://127.0.0.1:{closed_port()}/T0KEN", secret=SECRET))
    assert error.retryable
    assert "127.0.0.1" in str(error)


# Alertmanager


def alerts(hook: Endpoint, index: int = -1) -> list[dict[str, Any]]:
    return list(json.loads(hook.got[index].body))


def test_alertmanager_gets_labels_of_the_series_and_an_end_ahead(hook: Endpoint) -> None:
    made("alertmanager", url=f"{hook.url}/am/", generator_url="https://tools.example.org").send([FIRE])
    assert hook.got[0].path == "/am/api/v2/alerts"
    (alert,) = alerts(hook)
    assert alert["labels"] == {
        "alertname": "wrong-tool",
        "severity": "critical",
        "owner": "payments",
        "signal": "wrong_tool",
        "tool": "search",
    }
    assert alert["annotations"]["summary"] == "15.0 % of the runs chose a wrong tool"
    assert alert["annotations"]["runbook_url"] == FIRE.runbook
    assert alert["annotations"]["value"] == "15.0 % (3/20)"
    assert alert["annotations"]["team"] == "shop"
    assert alert["generatorURL"] == "https://tools.example.org"
    assert datetime.fromisoformat(alert["startsAt"]) < datetime.now(UTC) < datetime.fromisoformat(alert["endsAt"])


def test_the_end_of_an_alert_has_its_labels_and_its_time(hook: Endpoint) -> None:
    notifier = made("alertmanager", url=hook.url)
    notifier.send([FIRE])
    notifier.send([RESOLVE])
    fired, resolved = alerts(hook, 0)[0], alerts(hook, 1)[0]
    assert resolved["labels"] == fired["labels"]
    assert resolved["startsAt"] == fired["startsAt"]
    assert resolved["endsAt"] == "2025-06-01T00:10:00.000000000Z"


def test_a_gap_comes_and_goes_beside_the_alert(hook: Endpoint) -> None:
    notifier = made("alertmanager", url=hook.url)
    notifier.send([FIRE, replace(FIRE, kind="no_data", key="g")])
    fired, gap = (alert["labels"] for alert in alerts(hook))
    assert gap == {**fired, "no_data": "true"}
    notifier.send([replace(RESOLVE, kind="data_back", key="h")])
    assert alerts(hook)[0]["labels"] == gap


def test_of_an_alert_that_began_and_ended_only_the_end_is_told(hook: Endpoint) -> None:
    made("alertmanager", url=hook.url).send([FIRE, RESOLVE])
    (alert,) = alerts(hook)
    assert datetime.fromisoformat(alert["endsAt"]) < datetime.now(UTC)


def test_names_that_prometheus_does_not_know_are_changed_and_hide_none_of_ours(hook: Endpoint) -> None:
    odd = {**FIRE.labels, "alertname": "mine", "1st-of": "x", "1st.of": "y", "empty": "", "ünder": "z"}
    made("alertmanager", url=hook.url).send([replace(FIRE, labels=odd)])
    labels = alerts(hook)[0]["labels"]
    assert labels["alertname"] == "wrong-tool"
    assert labels["_1st_of"] == "x"
    assert labels["_nder"] == "z"
    assert "empty" not in labels


def test_what_stands_is_told_again_and_what_just_ended_too(hook: Endpoint) -> None:
    notifier = made("alertmanager", url=hook.url)
    assert isinstance(notifier, Refreshing)
    assert notifier.refresh_s == 60
    notifier.refresh([])
    assert hook.got == []
    notifier.refresh([FIRE])
    assert datetime.fromisoformat(alerts(hook)[0]["endsAt"]) > datetime.now(UTC)
    now = int(datetime.now(UTC).timestamp() * 1e9)
    notifier.send([replace(RESOLVE, at_ns=now)])
    notifier.refresh([])
    assert datetime.fromisoformat(alerts(hook)[0]["endsAt"]) < datetime.now(UTC)
    notifier.refresh([FIRE])  # it fires again: its old end is no news any more
    assert len(alerts(hook)) == 1
    assert datetime.fromisoformat(alerts(hook)[0]["endsAt"]) > datetime.now(UTC)


def test_of_several_alertmanagers_one_is_enough_and_all_get_it(hook: Endpoint) -> None:
    with endpoint() as other:
        notifier = made("alertmanager", url=[f"http://127.0.0.1:{closed_port()}", hook.url, other.url])
        notifier.send([FIRE])
        assert alerts(hook) == alerts(other)
        hook.answers, other.answers = [(400, {})], [(503, {"retry-after": "3"})]
        error = failed(notifier)
    assert error.retryable


@pytest.mark.parametrize(
    ("options", "header"),
    [
        ({"user": "ann", "password": {"env": "P"}}, "Basic " + base64.b64encode(b"ann:T0KEN").decode()),
        ({"token": {"env": "P"}}, "Bearer T0KEN"),
    ],
)
def test_alertmanager_is_told_who_we_are(hook: Endpoint, options: dict[str, Any], header: str) -> None:
    hook.answers = [(200, {}), (401, {})]
    notifier = made("alertmanager", {"P": "T0KEN"}, url=hook.url, **options)
    assert "T0KEN" not in repr(notifier)
    notifier.send([FIRE])
    assert hook.got[0].headers["authorization"] == header
    assert not failed(notifier).retryable


# Apprise


def test_apprise_sends_a_short_message_to_each_address(hook: Endpoint, tmp_path: Path) -> None:
    place = f"json://127.0.0.1:{hook.port}"
    (tmp_path / "urls").write_text(f"{place}/one?cto=2&rto=2\n{place}/two?cto=2&rto=2\n")
    notifier = made("apprise", urls={"file": str(tmp_path / "urls")})
    notifier.send([FIRE])
    assert [request.path for request in hook.got] == ["/one", "/two"]
    told = json.loads(hook.got[0].body)
    assert told["title"] == "FIRING critical: wrong-tool tool=search"
    assert told["type"] == "failure"
    for part in ("15.0 % (3/20)", "2025-06-01T00:00:00Z to 2025-06-01T00:05:00Z", "owner: payments", FIRE.runbook):
        assert str(part) in told["message"]
    notifier.send([RESOLVE])
    assert json.loads(hook.got[-1].body)["type"] == "success"


def test_an_address_that_took_a_message_does_not_get_it_again(hook: Endpoint) -> None:
    with endpoint() as other:
        places = [f"json://127.0.0.1:{e.port}/T0KEN?cto=2&rto=2" for e in (hook, other)]
        notifier = made("apprise", {"U": " ".join(places)}, urls={"env": "U"})
        other.answers = [(503, {})]
        error = failed(notifier)
        assert error.retryable
        assert str(error) == "address 2 (JSON) answers 503"
        notifier.send([FIRE])
        assert (len(hook.got), len(other.got)) == (1, 2)
        other.answers = [(404, {})]
        assert not failed(notifier, RESOLVE).retryable


def test_apprise_says_nothing_of_addresses(hook: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    hook.answers = [(500, {})]
    notifier = made("apprise", urls=f"json://user:{SECRET}@127.0.0.1:{hook.port}/T0KEN?cto=2&rto=2")
    failed(notifier)
    assert SECRET not in repr(notifier) + caplog.text
    assert failed(made("apprise", urls=f"json://127.0.0.1:{closed_port()}/T0KEN?cto=1&rto=1")).retryable
    with pytest.raises(UsageError) as raised:
        made("apprise", urls=["json://localhost", f"nonsense://{SECRET}"])
    assert "address 2" in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_title_may_stay_the_same_for_services_that_match_by_it(hook: Endpoint) -> None:
    made("apprise", urls=f"json://127.0.0.1:{hook.port}?cto=2&rto=2", steady_title=True).send([FIRE, RESOLVE])
    first, second = (json.loads(request.body) for request in hook.got)
    assert first["title"] == second["title"] == "wrong-tool tool=search"
    assert first["message"].startswith("FIRING critical")
    assert second["message"].startswith("RESOLVED")


# file and standard output


def test_a_file_takes_a_line_each_after_a_cut_one_too(tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    path.write_bytes(b'{"cut')
    notifier = made("file", path=str(path))
    notifier.send([FIRE])
    notifier.send([RESOLVE])
    cut, *rest = path.read_text("utf-8").splitlines()
    assert cut == '{"cut'
    assert [json.loads(line)["kind"] for line in rest] == ["fire", "resolve"]
    assert not failed(made("file", path=str(tmp_path / "none" / "told.jsonl"))).retryable


def test_standard_output_takes_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    made("stdout").send([FIRE, RESOLVE])
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [document(FIRE), document(RESOLVE)]


# texts


def test_labels_from_traces_cannot_call_everybody_or_add_lines() -> None:
    evil = replace(FIRE, series=(("tool", "x\r\nBcc: all@example.org <!channel> \u202etxt" + "y" * 900),))
    told = title(evil)
    assert len(told) <= 200
    assert told.startswith("FIRING critical: wrong-tool tool=x Bcc: all＠example.org ‹!channel› txtyyy")


def test_what_is_undefined_is_not_a_number() -> None:
    silent = replace(FIRE, kind="no_data", value=None, numerator=None, n=0, says="no data for 30m")
    assert "wrong_tool: n/a (0)" in message(silent).body
    assert document(silent)["value"] is None
    assert title(silent) == "NO DATA critical: wrong-tool tool=search"


# options


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("webhook", {}, "url is missing"),
        ("webhook", {"url": "ftp://x/T0KEN"}, "url is no address"),
        ("webhook", {"url": "http://x:99999"}, "url is no address"),
        ("webhook", {"url": "http://x"}, "secret is missing"),
        ("webhook", {"url": "http://x", "secret": "a", "unsigned": True}, "which of them"),
        ("webhook", {"url": "http://x", "secret": "whsec_?"}, "not base64"),
        ("webhook", {"url": "http://x", "secret": 7}, "secret is not a text"),
        ("webhook", {"url": "http://x", "secret": "a", "headers": {"Webhook-Id": "1"}}, "cannot be set"),
        ("webhook", {"url": "http://x", "secret": "a", "headers": {"a": "b\r\nc: d"}}, "cannot be set"),
        ("webhook", {"url": "http://x", "secret": "a", "timeout": 1e9}, "timeout is not"),
        ("webhook", {"url": "http://x", "secret": "a", "colour": "red"}, "unknown option colour"),
        ("webhook", {"url": "http://x", "secret": {"env": "NOT_SET"}}, "NOT_SET"),
        ("webhook", {"url": "http://x", "secret": {"file": "/no/such/file"}}, "/no/such/file"),
        ("alertmanager", {}, "url is missing"),
        ("alertmanager", {"url": ["http://x", "x"]}, "url is no address"),
        ("alertmanager", {"url": "http://x", "user": "u"}, "belong together"),
        ("alertmanager", {"url": "http://x", "token": "t", "user": "u"}, "which of them"),
        ("alertmanager", {"url": "http://x", "resend": 0}, "resend is not"),
        ("apprise", {}, "urls is missing"),
        ("apprise", {"urls": []}, "urls is not"),
        ("file", {}, "path is missing"),
        ("stdout", {"path": "x"}, "unknown option path"),
        ("pigeon", {}, "known: alertmanager, apprise, file, stdout, webhook"),
    ],
)
def test_a_wrong_option_is_named_and_its_value_is_not(kind: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as raised:
        made(kind, **options)
    assert says in str(raised.value)
    assert "monitor.notify t" in str(raised.value)
    assert "T0KEN" not in str(raised.value)


@pytest.mark.parametrize(("kind", "library"), [("webhook", "httpx"), ("alertmanager", "httpx"), ("apprise", "apprise")])
def test_a_library_that_is_missing_is_named_with_the_way_to_it(
    kind: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for module in ("_http", "apprise"):
        monkeypatch.setattr(f"otel_toolselect.monitor.notifiers.{module}.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'otel-toolselect\[notify\]'"):
        made(kind, url="http://x", secret="a")
