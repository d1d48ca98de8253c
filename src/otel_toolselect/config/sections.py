"""The tables of the configuration: one dataclass each, one line a setting.

A new setting is one field here; its place in the file (`[table] name`), its environment variable and its reading all
follow from that line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from otel_toolselect.config import _values as v
from otel_toolselect.config._values import setting


@dataclass(frozen=True, slots=True)
class Receive:
    """Where `serve` listens; port 0 takes a free one. `spool` "": beside the store.

    `token`: what senders must present; `tokens`: a file of many (`receive.tokens`). Both ports speak TLS with
    `tls_cert` and `tls_key` (PEM); with `tls_client_ca` every client must show a certificate that it signed. Only
    loopback may go without tokens or client certificates, or take tokens over plain text, unless `allow_` says so.
    """

    host: str = setting("127.0.0.1", v.text, variable="HOST")
    """An address of this machine, or 0.0.0.0 for all of them."""
    grpc_port: int = setting(4317, v.port, variable="GRPC_PORT")
    """OTLP over gRPC; 0 takes a free port."""
    http_port: int = setting(4318, v.port, variable="HTTP_PORT")
    """OTLP over HTTP, `/metrics` and the pages; 0 takes a free port."""
    spool: str = setting("", v.text, variable="SPOOL")
    token: str = setting("", v.text, variable="TOKEN", secret=True)
    tokens: str = setting("", v.text, variable="TOKENS")
    tls_cert: str = setting("", v.text, variable="TLS_CERT")
    tls_key: str = setting("", v.text, variable="TLS_KEY")
    tls_client_ca: str = setting("", v.text, variable="TLS_CLIENT_CA")
    allow_unauthenticated: bool = setting(False, v.switch, variable="ALLOW_UNAUTHENTICATED")
    """Anybody may send and read, from other machines too."""
    allow_plaintext: bool = setting(False, v.switch, variable="ALLOW_PLAINTEXT")
    """Tokens may come without TLS, from other machines too: where something in front ends TLS."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What `serve` tells about itself. `log_level` is for our own lines: other libraries may only warn.

    `otlp_endpoint`: where spans of our own go over OTLP/HTTP (`http://collector:4318`); off while empty.
    """

    log_format: Literal["text", "json"] = setting("text", v.one_of("text", "json"), variable="LOG_FORMAT")
    """`json`: one object a line."""
    log_level: str = setting("warning", v.one_of("debug", "info", "warning", "error"), variable="LOG_LEVEL")
    otlp_endpoint: str = setting("", v.address, variable="OTLP_ENDPOINT")


@dataclass(frozen=True, slots=True)
class Spool:
    """What is acknowledged waits here on disk until the store has it (docs/spool.md).

    `max_bytes` of requests may wait (as stored: `compression` stretches it); beyond it senders are told to come back.
    `max_age_s`: what the store did not take for so long goes to the dead letters; 0: it waits as long as it must.
    `memory_bytes` of what waits is held in memory too, the rest is read back. `dead_letter_bytes`: room for requests
    that were refused; acknowledged ones that the store cannot take are kept always.

    An insert holds up to `insert_spans` spans and log records and `insert_bytes`; a smaller one waits `insert_delay_s`
    for more. `backoff_s`: the longest pause between attempts while the store is away. `stop_s`: how long a stop may
    take to store what waits; the rest stays for the next start.
    """

    max_bytes: int = setting(2**30, v.size)
    max_age_s: int = setting(0, v.whole(0, 10**9))
    compression: Literal["none", "zstd"] = setting("none", v.one_of("none", "zstd"))
    memory_bytes: int = setting(8 * 2**20, v.size)
    dead_letter_bytes: int = setting(256 * 2**20, v.size)
    insert_spans: int = setting(10_000, v.whole(1, 10**6))
    insert_bytes: int = setting(8 * 2**20, v.size)
    insert_delay_s: float = setting(0.25, v.seconds)
    backoff_s: float = setting(5.0, v.seconds)
    stop_s: float = setting(30.0, v.seconds)


@dataclass(frozen=True, slots=True)
class Live:
    """What `serve` judges as it arrives: runs under `suites` and `rules` (paths of files). Off while both are empty.

    A trace is judged after `settle_seconds` of quiet, `wait_seconds` while its root is not there, and again when
    something late comes. `memory_bytes` of fresh spans are held for it; the rest is read back from the store.
    `lookback_seconds`: how far back the first start looks for traces that were never judged. Those who judge what is in
    one ClickHouse server share the work; the share of one that was silent for `lease_seconds` goes to the others.
    """

    suites: tuple[str, ...] = setting((), v.texts)
    rules: tuple[str, ...] = setting((), v.texts)
    settle_seconds: float = setting(2.0, v.seconds)
    wait_seconds: float = setting(30.0, v.seconds)
    memory_bytes: int = setting(32 * 2**20, v.size)
    lookback_seconds: float = setting(3_600.0, v.seconds)
    lease_seconds: float = setting(15.0, v.seconds)

    @property
    def on(self) -> bool:
        return bool(self.suites or self.rules)


@dataclass(frozen=True, slots=True)
class Monitor:
    """Watching with alerts: `alerts` are paths of alert files, `notify` where notifications go. `serve` watches when
    `alerts` is set.

    Every `tick_seconds` what closed since is evaluated. `lookback_seconds`: how far back an alert that was never
    evaluated begins. Of several monitors on one store one evaluates; another takes over when it was silent for
    `lease_seconds`. A condition against a `baseline` takes the file of its suite among `baselines`, else the stretch
    `baseline_window` ("2026-11-01/2026-11-08"). A notification is tried for `give_up_seconds`, then it is dead.
    """

    alerts: tuple[str, ...] = setting((), v.texts)
    notify: tuple[v.NotifyTarget, ...] = setting((), v.notify_targets, variable=None)
    baselines: tuple[str, ...] = setting((), v.texts)
    baseline_window: str = setting("", v.text)
    tick_seconds: float = setting(10.0, v.seconds)
    lookback_seconds: float = setting(3_600.0, v.seconds)
    lease_seconds: float = setting(30.0, v.seconds)
    give_up_seconds: float = setting(86_400.0, v.seconds)

    @property
    def on(self) -> bool:
        return bool(self.alerts)


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels on production traffic (docs/labels.md). `policy`: a suite or rule file whose policy says which tools are
    metadata and which names are one tool.

    The sample of a day: all failures, `per_stratum` runs of each other stratum, `random` of all; another `seed` is
    another sample. `alternatives`: other first actions that the yes/no judge is asked about where it rejects one.
    """

    policy: str = setting("", v.text)
    seed: str = setting("toolselect", v.text)
    per_stratum: int = setting(5, v.whole(0, 10**6))
    random: int = setting(20, v.whole(0, 10**6))
    alternatives: int = setting(8, v.whole(0, 1000))


@dataclass(frozen=True, slots=True)
class Export:
    """Verdicts as OpenTelemetry events, to `otlp_endpoint` over OTLP/HTTP (`http://collector:4318`); off while empty.
    `lookback_seconds`: how far back the first start looks.
    """

    otlp_endpoint: str = setting("", v.address)
    lookback_seconds: float = setting(3_600.0, v.seconds)

    @property
    def on(self) -> bool:
        return bool(self.otlp_endpoint)


@dataclass(frozen=True, slots=True)
class CaseNames:
    """Attributes that identify a case, by field (design section 4); `expected`: allowed first actions of a run."""

    case_id: tuple[str, ...] = setting(("toolselect.case.id", "test.case.name"), v.names, variable=None)
    """Names a case of the suite; the first attribute that is set wins, here and below."""
    suite: tuple[str, ...] = setting(("toolselect.suite", "test.suite.name"), v.names, variable=None)
    """Names the suite."""
    label: tuple[str, ...] = setting(("toolselect.label", "test.run.id"), v.names, variable=None)
    """Names the experiment or version that the run belongs to."""
    attempt: tuple[str, ...] = setting(("toolselect.attempt",), v.names, variable=None)
    """Counts repeats of one case."""
    expected: tuple[str, ...] = setting(("toolselect.expected",), v.names, variable=None)


@dataclass(frozen=True, slots=True)
class Web:
    """Pages and the read API, on the HTTP port of `serve` (docs/pages.md).

    `public_url`: how people reach them where something stands in front, with the path that it takes off, if any.
    A session ends after `session_hours`. Its key is kept beside the spool, unless `session_key` (of the environment)
    is set, as several `serve` behind one address need it. A query may take `query_seconds`; `threads` answer.
    """

    on: bool = setting(True, v.switch)
    """False: no pages and no read API; the port takes spans and shows `/metrics`."""
    public_url: str = setting("", v.address)
    session_hours: float = setting(12.0, v.seconds)
    session_key: str = setting("", v.text, secret=True, in_file=False)
    query_seconds: float = setting(15.0, v.seconds)
    threads: int = setting(4, v.whole(1, 64))


@dataclass(frozen=True, slots=True)
class Rpc:
    """`toolselect.v1` on the gRPC port of `serve` (docs/grpc.md). `evaluations` at the same time, each of `seconds` at
    most; `streams` of verdicts.
    """

    on: bool = setting(True, v.switch)
    """False: the port takes spans only."""
    evaluations: int = setting(2, v.whole(1, 64))
    seconds: float = setting(30.0, v.seconds)
    streams: int = setting(32, v.whole(1, 1_000))


@dataclass(frozen=True, slots=True)
class Oidc:
    """Signing in to the pages with OpenID Connect (docs/pages.md); off while `issuer` or `client_id` is empty.

    Who has one of `admins`, `labellers` or `viewers` among the values of `claim` gets that role, the highest that
    fits; "*" is everybody who can sign in. `tenants`: "VALUE=TENANT"; who has the value sees that tenant only.
    """

    issuer: str = setting("", v.address)
    client_id: str = setting("", v.text)
    client_secret: str = setting("", v.text, secret=True, in_file=False)
    """Of a confidential client; without one the client is public."""
    scopes: tuple[str, ...] = setting(("openid", "profile", "email"), v.texts)
    """What is asked for at the sign-in."""
    claim: str = setting("groups", v.text)
    name_claim: str = setting("email", v.text)
    """What a person is called on the pages and in labels."""
    viewers: tuple[str, ...] = setting((), v.texts)
    labellers: tuple[str, ...] = setting((), v.texts)
    admins: tuple[str, ...] = setting((), v.texts)
    tenants: tuple[str, ...] = setting((), v.texts)

    @property
    def on(self) -> bool:
        return bool(self.issuer and self.client_id)


@dataclass(frozen=True, slots=True)
class Judge:
    """The yes/no judge: an OpenAI-compatible endpoint. Off while `url` or `model` is empty.

    `calls` and `seconds` bound one judgement as a whole, `timeout` one request; what is over a limit stays undecided.
    `cache` "": in the user's data folder.
    """

    url: str = setting("", v.endpoint)
    model: str = setting("", v.text)
    key: str = setting("", v.text, secret=True, in_file=False)
    """Sent as bearer token."""
    calls: int = setting(500, v.count)
    seconds: float = setting(300.0, v.seconds)
    timeout: float = setting(30.0, v.seconds)
    cache: str = setting("", v.text)
    adjudicate: bool = setting(False, v.switch)
    """A second look at failures; it never changes a verdict."""

    @property
    def on(self) -> bool:
        return bool(self.url and self.model)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold. Over `request_bytes` (inflated) or `spans` (or log records) it is refused for good:
    the sender must make smaller ones. So is one of more than `messages` at all levels together (records, attributes,
    values, ...; in JSON: objects and lists): an empty one has two bytes on the wire and a hundred in memory. A value
    nested deeper than `depth` costs its span. Everything else is cut, the record is kept, and its attribute
    `toolselect.truncated` names what was cut: texts over `value_bytes` and keys over `key_bytes` at a character
    boundary, attributes, events and links beyond their number.

    And what may be open or under way at the same time: `connections` of each port (over HTTP the one that has waited
    longest for a request makes room for a new one), `requests` of both protocols, `streams` of one gRPC connection,
    `in_flight_bytes` of bodies that are not yet acknowledged (the size of a gRPC message shows only when it is whole,
    so that each one being read counts as `request_bytes`). A handshake, or the head of a request from its first byte,
    may take `header_seconds`, a body `body_seconds`; a connection without a request ends after `idle_seconds`.
    """

    request_bytes: int = setting(20 * 2**20, v.size)
    spans: int = setting(50_000, v.whole(1, 10**7))
    messages: int = setting(2_000_000, v.whole(1, 10**8))
    attributes: int = setting(4_096, v.whole(1, 10**6))
    """Of one record."""
    events: int = setting(1_024, v.whole(1, 10**6))
    """Of one span."""
    links: int = setting(1_024, v.whole(1, 10**6))
    """Of one span."""
    value_bytes: int = setting(2**20, v.size)
    key_bytes: int = setting(1_024, v.size)
    depth: int = setting(30, v.whole(1, 30))
    connections: int = setting(1_024, v.whole(1, 10**6))
    requests: int = setting(256, v.whole(1, 10**6))
    streams: int = setting(100, v.whole(1, 10**6))
    in_flight_bytes: int = setting(256 * 2**20, v.size)
    header_bytes: int = setting(16 * 2**10, v.size)
    """Of one HTTP request."""
    header_seconds: float = setting(10.0, v.seconds)
    body_seconds: float = setting(30.0, v.seconds)
    idle_seconds: float = setting(60.0, v.seconds)


@dataclass(frozen=True, slots=True)
class Retention:
    """`days` for which spans are kept by their start, 0: for ever; an older one is rejected when it arrives. A start
    more than `skew` seconds ahead of this machine's clock is kept with the attribute `toolselect.clock_skew`.
    `run_days`: for which runs and what was judged of them are kept since they were written last, 0: for ever.

    Of a server: rows older than `move_after_days` go to the volume `move_to` of its `storage_policy` (docs/store.md).
    """

    days: int = setting(0, v.whole(0, 36_500))
    skew: float = setting(86_400.0, v.seconds)
    run_days: int = setting(0, v.whole(0, 36_500))
    storage_policy: str = setting("", v.text)
    move_to: str = setting("", v.text)
    move_after_days: int = setting(0, v.whole(0, 36_500))


@dataclass(frozen=True, slots=True)
class Redact:
    """What is taken out of spans and log records before anything is kept (`otlp.redact`); nothing by default.

    `allow`, `deny`: attribute keys, globs or `/RE2/`; what is not allowed or is denied goes. `patterns`: shapes of
    secrets by name, treated as `action` says. `rule`: rules of one's own. `content` "drop": message texts, arguments
    and results go, their structure stays. `key` is for `hash`, and comes from the environment only.
    """

    content: str = setting("keep", v.one_of("keep", "drop"))
    allow: tuple[str, ...] = setting((), v.texts)
    deny: tuple[str, ...] = setting((), v.texts)
    patterns: tuple[str, ...] = setting((), v.texts)
    action: str = setting("mask", v.one_of(*v.ACTIONS))
    rule: tuple[v.RedactRule, ...] = setting((), v.redact_rules, variable=None)
    key: str = setting("", v.text, secret=True, in_file=False)

    @property
    def on(self) -> bool:
        return bool(self.content == "drop" or self.allow or self.deny or self.patterns or self.rule)
