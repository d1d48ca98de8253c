"""TLS and client certificates on both ports, and certificates that change while the server runs."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import grpc
import httpx
import pytest
import trustme
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from receive_samples import proto_request, request, span

from otel_toolselect.config import Limits
from otel_toolselect.errors import InputError
from otel_toolselect.receive.grpc_server import SERVICES

EXPORT = f"/{SERVICES['traces']}/Export"
JSON = {"content-type": "application/json"}


class Files:
    """Certificates in a folder, as an operator has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca, self.client_ca = trustme.CA(), trustme.CA()
        self.cert, self.key = folder / "tls.crt", folder / "tls.key"
        self.authority, self.client_authority = folder / "ca.pem", folder / "client-ca.pem"
        self.client_ca.cert_pem.write_to_path(self.client_authority)
        self.renew()

    def renew(self, ca: trustme.CA | None = None) -> None:
        self.ca = ca or self.ca
        issued = self.ca.issue_cert("localhost", "127.0.0.1")
        self.ca.cert_pem.write_to_path(self.authority)
        issued.private_key_pem.write_to_path(self.key)
        issued.cert_chain_pems[0].write_to_path(self.cert)

    def client(self, name: str, ca: trustme.CA | None = None) -> tuple[Path, Path]:
        issued = (ca or self.client_ca).issue_cert(name, common_name=f"cn-{name}")
        issued.cert_chain_pems[0].write_to_path(self.folder / f"{name}.crt")
        issued.private_key_pem.write_to_path(self.folder / f"{name}.key")
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"

    def context(self, pair: tuple[Path, Path] | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.authority)
        if pair:
            context.load_cert_chain(*pair)
        return context


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def pair(files):
    return {"tls_cert": files.cert, "tls_key": files.key}


@pytest.fixture
def both(files):
    """Sends over both ports with one client certificate; what each answered, an error by its kind."""

    def send(receiver, client=None, token=None):
        said = {}
        header = {"authorization": f"Bearer {token}"} if token else {}
        url = f"https://localhost:{receiver.http_port}/v1/traces"
        try:
            with httpx.Client(verify=files.context(client)) as http:
                said["http"] = http.post(url, content=request(span(1)), headers=JSON | header).status_code
        except httpx.TransportError:
            said["http"] = "no connection"
        key, cert = (client[1].read_bytes(), client[0].read_bytes()) if client else (None, None)
        credentials = grpc.ssl_channel_credentials(files.authority.read_bytes(), key, cert)
        with grpc.secure_channel(f"localhost:{receiver.grpc_port}", credentials) as channel:
            metadata = tuple((k, v) for k, v in header.items())
            try:
                said["grpc"] = channel.unary_unary(EXPORT)(proto_request(2), metadata=metadata, timeout=10)
            except grpc.RpcError as error:
                said["grpc"] = error.code().name
        return said

    return send


KEPT = {"http": 200, "grpc": b""}
CUT = {"http": "no connection", "grpc": "UNAVAILABLE"}
UNKNOWN = {"http": 401, "grpc": "UNAUTHENTICATED"}


def test_both_ports_speak_tls(running, sink, pair, both) -> None:
    receiver = running(bearer_token="s3cret", **pair)
    assert both(receiver, token="s3cret") == KEPT
    assert both(receiver) == UNKNOWN
    receiver.flush()
    assert sink.ids == {1, 2}


def test_nothing_is_told_in_plain_text(running, pair, files) -> None:
    receiver = running(**pair)
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://127.0.0.1:{receiver.http_port}/healthz")
    with (
        grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel,
        pytest.raises(grpc.RpcError),
    ):
        channel.unary_unary(EXPORT)(proto_request(1), timeout=10)
    assert httpx.get(f"https://localhost:{receiver.http_port}/healthz", verify=files.context()).status_code == 200


@pytest.mark.parametrize("port", ["http_port", "grpc_port"])
@pytest.mark.parametrize(("version", "fine"), [("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_old_versions_of_tls_are_refused(running, pair, files, port, version, fine) -> None:
    receiver = running(**pair)
    context = files.context()
    context.set_ciphers("ALL:@SECLEVEL=0")  # or this client would not even try
    context.set_alpn_protocols(["h2" if port == "grpc_port" else "http/1.1"])
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    with socket.create_connection(("127.0.0.1", getattr(receiver, port)), timeout=10) as plain:
        if fine:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                assert secured.version() == version.replace("_", ".")
        else:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                context.wrap_socket(plain, server_hostname="localhost")


def test_a_handshake_that_stops_ends(running, pair, files) -> None:
    receiver = running(limits=Limits(header_seconds=0.2, connections=2), **pair)
    for port in (receiver.http_port, receiver.grpc_port):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as silent:
            silent.sendall(b"\x16\x03\x01")
            assert silent.recv(100) == b""
    assert counted(receiver) == {"too_slow": 1}
    silent = [socket.create_connection(("127.0.0.1", receiver.http_port), timeout=20) for _ in range(9)]
    assert httpx.get(f"https://localhost:{receiver.http_port}/healthz", verify=files.context()).status_code == 200
    for connection in silent:
        connection.close()


def test_stopping_ends_handshakes(running, pair) -> None:
    receiver = running(**pair)
    with (
        socket.create_connection(("127.0.0.1", receiver.http_port), timeout=20) as first,
        socket.create_connection(("127.0.0.1", receiver.http_port), timeout=20) as second,
    ):
        second.sendall(b"\x16\x03\x01")
        receiver.stop()
        for silent in (first, second):
            with contextlib.suppress(ConnectionResetError):
                assert silent.recv(100) == b""


def counted(receiver) -> dict[str, int]:
    return {reason: n for reason, n in receiver.counters.by_label().refusals.items() if n}


def test_with_an_authority_for_clients_each_must_show_a_certificate(running, sink, pair, files, both) -> None:
    receiver = running(tls_client_ca=files.client_authority, **pair)
    assert both(receiver) == CUT
    assert both(receiver, files.client("stranger.example", trustme.CA())) == CUT
    assert counted(receiver) == {"unauthenticated": 2}  # over HTTP; grpc does not tell of its handshakes
    assert both(receiver, files.client("agent.example")) == KEPT
    receiver.flush()
    assert sink.ids == {1, 2}


def test_a_certificate_names_its_sender(running, pair, files, both, tmp_path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(
        '[[token]]\nname = "a"\ncertificate = "a.example"\n'
        '[[token]]\nname = "c"\ncertificate = "cn-c.example"\n'
        '[[token]]\nname = "b"\ncertificate = "b.example"\ntoken = "token-of-b-0123456789"\n',
        "utf-8",
    )
    tokens.chmod(0o600)
    receiver = running(tls_client_ca=files.client_authority, tokens=tokens, **pair)
    assert both(receiver, files.client("a.example")) == KEPT
    assert both(receiver, files.client("c.example")) == KEPT  # by its common name
    assert both(receiver, files.client("b.example")) == UNKNOWN
    assert both(receiver, files.client("b.example"), "token-of-b-0123456789") == KEPT
    assert both(receiver, files.client("a.example"), "token-of-b-0123456789") == UNKNOWN
    assert both(receiver, files.client("other.example")) == UNKNOWN


def test_renewed_certificates_are_shown_to_new_connections(running, pair, files, both) -> None:
    receiver = running(tls_client_ca=files.client_authority, **pair)
    agent = files.client("agent.example")
    assert both(receiver, agent) == KEPT
    files.renew(trustme.CA())  # nobody who trusts the new authority only would accept the old certificate
    assert both(receiver, agent) == KEPT
    other = trustme.CA()
    other.cert_pem.write_to_path(files.client_authority)
    assert both(receiver, agent) == CUT
    assert both(receiver, files.client("agent.example", other)) == KEPT


def test_broken_certificates_leave_the_last_good_ones(running, pair, files, both, caplog) -> None:
    receiver = running(**pair)
    files.key.write_text("nothing of use", "utf-8")
    assert both(receiver) == KEPT
    assert both(receiver) == KEPT
    assert receiver.counters.snapshot()["reload_failures"] == 1
    assert len([r for r in caplog.records if r.levelname == "ERROR"]) == 1
    assert str(files.key) in caplog.text
    files.renew()
    assert both(receiver) == KEPT


def test_the_official_exporters_over_tls(running, sink, pair, files, monkeypatch) -> None:
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # requests lets them win over what it is told
        monkeypatch.delenv(variable, raising=False)
    receiver = running(tls_client_ca=files.client_authority, **pair)
    cert, key = files.client("agent.example")
    credentials = grpc.ssl_channel_credentials(files.authority.read_bytes(), key.read_bytes(), cert.read_bytes())
    exporters = (
        GrpcSpans(endpoint=f"https://localhost:{receiver.grpc_port}", credentials=credentials),
        HttpSpans(
            endpoint=f"https://localhost:{receiver.http_port}/v1/traces",
            certificate_file=str(files.authority),
            client_certificate_file=str(cert),
            client_key_file=str(key),
        ),
    )
    for exporter in exporters:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        provider.get_tracer("agent").start_span("execute_tool f").end()
        provider.shutdown()
    receiver.flush()
    assert len(sink.spans) == 2


@pytest.mark.parametrize("missing", ["tls_cert", "tls_key", "tls_client_ca"])
def test_files_that_cannot_be_used_end_the_start(settings, sink, pair, files, tmp_path, missing) -> None:
    from otel_toolselect.receive import Receiver

    wrong = tmp_path / "wrong.pem"
    for content in (None, "nothing of use"):
        if content is not None:
            wrong.write_text(content, "utf-8")
        named = pair | {"tls_client_ca": files.client_authority} | {missing: wrong}
        with pytest.raises(InputError, match=r"wrong\.pem"):
            Receiver(settings(**named), sink).start()


def test_a_key_with_a_passphrase_is_not_asked_for(settings, sink, pair, files) -> None:
    """In a process of its own: OpenSSL would ask on the terminal, and wait."""
    from cryptography.hazmat.primitives import serialization as pem

    key = pem.load_pem_private_key(files.key.read_bytes(), None)
    locked = pem.BestAvailableEncryption(b"secret")
    files.key.write_bytes(key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, locked))
    code = (
        "import sys, pathlib; from otel_toolselect.receive.tls import Certificates;"
        "Certificates(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), None, print)"
    )
    command = [sys.executable, "-c", code, str(files.cert), str(files.key)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert "without a passphrase" in done.stderr
